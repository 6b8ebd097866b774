-- Other rooms show failures in logs of their own. They read this view, so that each failure is
-- stored once.

CREATE OR REPLACE VIEW omd.failure_event AS
SELECT
    e.event_id,
    mi.module_id,
    e.module_instance_id,
    e.event_datetime,
    e.event_return_code_details,
    omd.failure_text(e.event_return_code_details, e.event_detail, mi.module_id) AS event_detail
FROM omd.event_log AS e
INNER JOIN omd.module_instance AS mi ON e.module_instance_id = mi.module_instance_id
WHERE e.event_type_code = 2 AND e.module_instance_id <> 0;

COMMENT ON VIEW omd.failure_event IS 'For rooms: the failure events of Module Instances.';
COMMENT ON COLUMN omd.failure_event.event_id IS 'The event in omd.event_log.';
COMMENT ON COLUMN omd.failure_event.module_id IS 'The Module.';
COMMENT ON COLUMN omd.failure_event.module_instance_id IS 'The Module Instance that failed.';
COMMENT ON COLUMN omd.failure_event.event_datetime IS 'When the event was written.';
COMMENT ON COLUMN omd.failure_event.event_return_code_details IS
'The SQLSTATE, or the type of the exception.';
COMMENT ON COLUMN omd.failure_event.event_detail IS
'The full text of the error; who has not omd_data_reader sees what omd.shown_failure leaves of it.';
