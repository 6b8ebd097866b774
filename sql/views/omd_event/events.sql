-- Everybody who may read OMD reads it, so it holds no business row and no text of an error.

CREATE OR REPLACE VIEW omd_report.events AS
SELECT
    e.event_number,
    e.event_type,
    e.subject_type,
    e.subject_id,
    e.code,
    e.started_datetime,
    e.event_datetime,
    e.published_datetime,
    e.detail
FROM omd_event.event AS e;

COMMENT ON VIEW omd_report.events IS
'What was committed, in one order. Who has read up to an event_number misses nothing by going on '
'there: a row gets its number after it is visible.';
COMMENT ON COLUMN omd_report.events.event_number IS
'Its place in the order; numbers are passed over only where the server has changed.';
COMMENT ON COLUMN omd_report.events.event_type IS
'What has happened (omd_event.event_type has the list).';
COMMENT ON COLUMN omd_report.events.subject_type IS
'What subject_id is an id of: MODULE and BATCH (their instances), DELIVERY, TASK, LAKE_COMMIT; 0 '
'of SCHEDULE and PROBLEM.';
COMMENT ON COLUMN omd_report.events.subject_id IS 'To what it happened.';
COMMENT ON COLUMN omd_report.events.code IS
'The Module, Batch, agreement, family/type, schedule, table, or problem/subject, as it was called '
'when the event was published.';
COMMENT ON COLUMN omd_report.events.started_datetime IS
'When the instance was created; NULL for what is no instance.';
COMMENT ON COLUMN omd_report.events.event_datetime IS 'When it happened.';
COMMENT ON COLUMN omd_report.events.published_datetime IS 'When it got its number.';
COMMENT ON COLUMN omd_report.events.detail IS
'What else is known: batch_instance_id, module_instance_id, reason, return_code, undone_by, '
'status, attempt, operation, rows, severity, as far as they apply.';
