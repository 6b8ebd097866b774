-- Rooms read what is to be taken again here; a few routines of process control write it.

CREATE OR REPLACE VIEW omd.open_window AS
SELECT
    w.window_return_id,
    w.module_id,
    w.recall_id,
    w.start_value,
    w.start_id,
    w.end_value,
    w.end_id,
    w.source_code,
    w.former_instances,
    w.module_instance_id,
    w.noted_datetime
FROM omd.window_return AS w
WHERE w.ended_datetime IS NULL;

COMMENT ON VIEW omd.open_window IS
'For rooms: the load windows that a recall took back and that are still to be taken again.';
COMMENT ON COLUMN omd.open_window.window_return_id IS 'Its number, in order.';
COMMENT ON COLUMN omd.open_window.module_id IS 'The Module.';
COMMENT ON COLUMN omd.open_window.recall_id IS 'The recall.';
COMMENT ON COLUMN omd.open_window.start_value IS
'Start of the window, exclusive; NULL: it has none, or begins at the beginning.';
COMMENT ON COLUMN omd.open_window.start_id IS 'The id of its start.';
COMMENT ON COLUMN omd.open_window.end_value IS
'End of the window, inclusive; NULL with end_id: the run had no window.';
COMMENT ON COLUMN omd.open_window.end_id IS 'The id of its end.';
COMMENT ON COLUMN omd.open_window.source_code IS
'The source whose positions it has; NULL: another one.';
COMMENT ON COLUMN omd.open_window.former_instances IS 'The runs whose window it was.';
COMMENT ON COLUMN omd.open_window.module_instance_id IS
'The run that takes it again, or has tried; NULL: none has begun.';
COMMENT ON COLUMN omd.open_window.noted_datetime IS 'When it was taken back.';
