-- A failed step and the block that its retry takes again.

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

COMMENT ON VIEW omd_report.lineage_errors IS 'Failed steps, with their block.';
COMMENT ON COLUMN omd_report.lineage_errors.event_id IS 'The event in the event log.';
COMMENT ON COLUMN omd_report.lineage_errors.topic IS 'The topic.';
COMMENT ON COLUMN omd_report.lineage_errors.ts IS 'When.';
COMMENT ON COLUMN omd_report.lineage_errors.module_instance_id IS
'The step; NULL: it could not begin.';
COMMENT ON COLUMN omd_report.lineage_errors.error_code IS
'SQLSTATE, or type of the exception; NULL: it has none.';
COMMENT ON COLUMN omd_report.lineage_errors.error IS 'The full text; NULL: there is none.';
COMMENT ON COLUMN omd_report.lineage_errors.start_pos IS
'Start of the block, exclusive: pos; NULL: none was planned.';
COMMENT ON COLUMN omd_report.lineage_errors.start_id IS
'Start of the block, exclusive: id; NULL: none was planned.';
COMMENT ON COLUMN omd_report.lineage_errors.end_pos IS
'End of the block, inclusive: pos; NULL: none was planned.';
COMMENT ON COLUMN omd_report.lineage_errors.end_id IS
'End of the block, inclusive: id; NULL: none was planned.';
