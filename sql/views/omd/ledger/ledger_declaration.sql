-- A room reads views of this one, and no tables.

CREATE OR REPLACE VIEW omd.ledger_declaration AS
SELECT
    x.module_id,
    x.replaces_all,
    x.after_id,
    x.upto_id
FROM omd.module_declaration AS x;

COMMENT ON VIEW omd.ledger_declaration IS
'For rooms: what was declared for the runs of a Module.';
COMMENT ON COLUMN omd.ledger_declaration.module_id IS
'The Module.';
COMMENT ON COLUMN omd.ledger_declaration.replaces_all IS
'Each run replaces what the former ones wrote, so only the newest one stands.';
COMMENT ON COLUMN omd.ledger_declaration.after_id IS
'It counts for runs with a greater id.';
COMMENT ON COLUMN omd.ledger_declaration.upto_id IS
'It counts for runs up to this id; NULL: it holds still.';
