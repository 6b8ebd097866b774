-- A room reads views of this one, and no tables.

CREATE OR REPLACE VIEW omd.ledger_window AS
SELECT
    x.module_instance_id,
    x.module_id,
    x.source_code,
    x.start_value,
    x.start_id,
    x.end_value,
    x.end_id,
    x.is_taken_back
FROM omd.source_control AS x;

COMMENT ON VIEW omd.ledger_window IS
'For rooms: the load windows of runs.';
COMMENT ON COLUMN omd.ledger_window.module_instance_id IS
'The instance that reads the window.';
COMMENT ON COLUMN omd.ledger_window.module_id IS
'The Module of the instance, here so that one index finds its newest window.';
COMMENT ON COLUMN omd.ledger_window.source_code IS
'The source (omd.source) whose positions the window has; NULL: it is about another one.';
COMMENT ON COLUMN omd.ledger_window.start_value IS
'Start of the window, exclusive: timestamp part.';
COMMENT ON COLUMN omd.ledger_window.start_id IS
'Start of the window, exclusive: id part.';
COMMENT ON COLUMN omd.ledger_window.end_value IS
'End of the window, inclusive: timestamp part.';
COMMENT ON COLUMN omd.ledger_window.end_id IS
'End of the window, inclusive: id part.';
COMMENT ON COLUMN omd.ledger_window.is_taken_back IS
'The instance was rolled back: the window is kept for audit, and no reader counts it.';
