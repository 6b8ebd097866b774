-- A room reads views of this one, and no tables.

CREATE OR REPLACE VIEW omd.ledger_input AS
SELECT
    x.module_id,
    x.table_code,
    x.declared_code,
    x.read_kind,
    x.pos_column,
    x.id_column,
    x.after_id,
    x.upto_id
FROM omd.module_input AS x;

COMMENT ON VIEW omd.ledger_input IS
'For rooms: the tables that runs of a Module read, as declared.';
COMMENT ON COLUMN omd.ledger_input.module_id IS
'The Module.';
COMMENT ON COLUMN omd.ledger_input.table_code IS
'The table, schema.name: the topmost parent of a partition, the current view of facts.';
COMMENT ON COLUMN omd.ledger_input.declared_code IS
'The table or view that was declared.';
COMMENT ON COLUMN omd.ledger_input.read_kind IS
'ALL: what is visible. WINDOW: the load window of the run. RUNS: the rows of certain runs, '
'which the run records itself.';
COMMENT ON COLUMN omd.ledger_input.pos_column IS
'The column that the window cuts; NULL: the positions of a source, or no window.';
COMMENT ON COLUMN omd.ledger_input.id_column IS
'The column of ids in the window; NULL: none.';
COMMENT ON COLUMN omd.ledger_input.after_id IS
'As in the declaration.';
COMMENT ON COLUMN omd.ledger_input.upto_id IS
'As in the declaration.';
