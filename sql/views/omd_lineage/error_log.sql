-- Errors of topics are stored once, in the event log of process control; this view selects them.

CREATE OR REPLACE VIEW omd_lineage.error_log AS
SELECT
    e.event_id,
    t.topic,
    e.event_datetime AS ts,
    e.module_instance_id,
    e.event_return_code_details AS error_code,
    e.event_detail AS error
FROM omd.failure_event AS e
INNER JOIN omd_lineage.topic AS t ON e.module_id = t.module_id;

COMMENT ON VIEW omd_lineage.error_log IS 'For rooms: Every failed step, with its error.';
COMMENT ON COLUMN omd_lineage.error_log.event_id IS 'The event in omd.event_log.';
COMMENT ON COLUMN omd_lineage.error_log.topic IS 'The topic.';
COMMENT ON COLUMN omd_lineage.error_log.ts IS 'When the step failed.';
COMMENT ON COLUMN omd_lineage.error_log.module_instance_id IS
'The Module Instance of the step; NULL when the step could not begin.';
COMMENT ON COLUMN omd_lineage.error_log.error_code IS
'The SQLSTATE, or the type of the exception; NULL when there is none.';
COMMENT ON COLUMN omd_lineage.error_log.error IS
'The full text of the error; NULL when there is none.';
