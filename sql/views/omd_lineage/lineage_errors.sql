-- The block is shown beside the error, since the retry reads the same block.

CREATE OR REPLACE VIEW omd_report.lineage_errors AS
SELECT
    e.event_id,
    e.topic,
    e.ts,
    e.module_instance_id,
    e.error_code,
    e.error,
    sc.start_value AS start_pos,
    sc.start_id,
    sc.end_value AS end_pos,
    sc.end_id
FROM omd_lineage.error_log AS e
LEFT JOIN omd.source_control AS sc ON e.module_instance_id = sc.module_instance_id;

COMMENT ON VIEW omd_report.lineage_errors IS 'Failed steps, each with the error and the block.';
COMMENT ON COLUMN omd_report.lineage_errors.event_id IS 'The event in the event log.';
COMMENT ON COLUMN omd_report.lineage_errors.topic IS 'The topic.';
COMMENT ON COLUMN omd_report.lineage_errors.ts IS 'When the step failed.';
COMMENT ON COLUMN omd_report.lineage_errors.module_instance_id IS
'The Module Instance of the step; NULL when the step could not begin.';
COMMENT ON COLUMN omd_report.lineage_errors.error_code IS
'The SQLSTATE, or the type of the exception; NULL when there is none.';
COMMENT ON COLUMN omd_report.lineage_errors.error IS
'The full text of the error; NULL when there is none.';
COMMENT ON COLUMN omd_report.lineage_errors.start_pos IS
'The start of the block, exclusive: its pos; NULL when no block was planned.';
COMMENT ON COLUMN omd_report.lineage_errors.start_id IS
'The start of the block, exclusive: its id; NULL when no block was planned.';
COMMENT ON COLUMN omd_report.lineage_errors.end_pos IS
'The end of the block, inclusive: its pos; NULL when no block was planned.';
COMMENT ON COLUMN omd_report.lineage_errors.end_id IS
'The end of the block, inclusive: its id; NULL when no block was planned.';
