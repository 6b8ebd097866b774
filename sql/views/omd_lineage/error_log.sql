-- The errors of topics stand in the event log of process control; here is no copy.

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

COMMENT ON VIEW omd_lineage.error_log IS 'Every failed step, with its error.';
COMMENT ON COLUMN omd_lineage.error_log.event_id IS 'The event in omd.event_log.';
COMMENT ON COLUMN omd_lineage.error_log.topic IS 'The topic.';
COMMENT ON COLUMN omd_lineage.error_log.ts IS 'When.';
COMMENT ON COLUMN omd_lineage.error_log.module_instance_id IS
'The Module Instance of the step; NULL: it could not begin.';
COMMENT ON COLUMN omd_lineage.error_log.error_code IS
'SQLSTATE, or type of the exception; NULL: it has none.';
COMMENT ON COLUMN omd_lineage.error_log.error IS 'The full text; NULL: there is none.';
