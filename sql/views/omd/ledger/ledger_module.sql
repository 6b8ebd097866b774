-- A room reads views of this one, and no tables.

CREATE OR REPLACE VIEW omd.ledger_module AS
SELECT
    x.module_id,
    x.module_code,
    x.module_kind_code,
    x.table_code,
    x.insert_instance_column,
    x.update_instance_column
FROM omd.module AS x;

COMMENT ON VIEW omd.ledger_module IS
'For rooms: the Modules, as who looks for their readers needs them.';
COMMENT ON COLUMN omd.ledger_module.module_id IS
'Surrogate key.';
COMMENT ON COLUMN omd.ledger_module.module_code IS
'The name that callers use.';
COMMENT ON COLUMN omd.ledger_module.module_kind_code IS
'What one run of the Module is.';
COMMENT ON COLUMN omd.ledger_module.table_code IS
'The target as schema.table, quoted where an identifier needs it: "My schema"."My table".';
COMMENT ON COLUMN omd.ledger_module.insert_instance_column IS
'Column with the Module Instance ID that inserted the row.';
COMMENT ON COLUMN omd.ledger_module.update_instance_column IS
'Column with the Module Instance ID that last updated the row.';
