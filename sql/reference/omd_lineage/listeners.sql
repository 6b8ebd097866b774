-- The room omd calls this one when rows are undone that others may have read.

INSERT INTO omd.undo_listener (routine)
VALUES ('omd_lineage.hear_undo')
ON CONFLICT (routine) DO NOTHING;
