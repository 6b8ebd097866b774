-- It is joined with what was undone, so it is a view: a call for each would cost a millisecond.

CREATE OR REPLACE VIEW omd.source_window AS
SELECT
    c.source_code,
    c.start_id,
    c.end_id,
    m.module_code,
    mi.module_instance_id
FROM omd.source_control AS c
INNER JOIN omd.module_instance AS mi ON c.module_instance_id = mi.module_instance_id
INNER JOIN omd.module AS m ON c.module_id = m.module_id
WHERE
    c.source_code IS NOT NULL
    AND mi.execution_status_code IN ('S', 'E')
    AND mi.rolled_back_by_module_instance_id IS NULL;

COMMENT ON VIEW omd.source_window IS
'For rooms: the windows of runs that stand, or execute, by the positions of a source.';
COMMENT ON COLUMN omd.source_window.source_code IS 'The source.';
COMMENT ON COLUMN omd.source_window.start_id IS
'The start of the window, exclusive; NULL: it is the beginning.';
COMMENT ON COLUMN omd.source_window.end_id IS
'The end of the window, inclusive; NULL: it has no id.';
COMMENT ON COLUMN omd.source_window.module_code IS 'The Module.';
COMMENT ON COLUMN omd.source_window.module_instance_id IS 'The run.';
