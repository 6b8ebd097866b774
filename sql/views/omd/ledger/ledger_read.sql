-- A room reads views of this one, and no tables.

CREATE OR REPLACE VIEW omd.ledger_read AS
SELECT
    x.module_id,
    x.table_code
FROM omd.module_read AS x;

COMMENT ON VIEW omd.ledger_read IS
'For rooms: the tables that some run of a Module has recorded.';
COMMENT ON COLUMN omd.ledger_read.module_id IS
'The Module.';
COMMENT ON COLUMN omd.ledger_read.table_code IS
'The table, as in omd.run_input.';
