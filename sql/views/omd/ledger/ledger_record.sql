-- A room reads views of this one, and no tables.

CREATE OR REPLACE VIEW omd.ledger_record AS
SELECT
    x.module_instance_id,
    x.table_code,
    x.source_instances
FROM omd.run_input AS x;

COMMENT ON VIEW omd.ledger_record IS
'For rooms: the tables that runs have recorded.';
COMMENT ON COLUMN omd.ledger_record.module_instance_id IS
'The run.';
COMMENT ON COLUMN omd.ledger_record.table_code IS
'The table, as in omd.module_input; empty: it has read what nobody could look up.';
COMMENT ON COLUMN omd.ledger_record.source_instances IS
'The runs whose rows it has read, and no others; NULL: what was visible.';
