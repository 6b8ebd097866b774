-- The view calls no volatile function: one would keep a LIMIT from reaching the index, and a look
-- at the log would read all of it.

CREATE OR REPLACE VIEW omd_report.batch_execution_log AS
SELECT
    bi.batch_instance_id,
    b.batch_code,
    bi.parent_batch_instance_id,
    bi.execution_status_code,
    bi.processing_indicator,
    bi.next_run_indicator,
    bi.reason_code,
    bi.start_datetime,
    bi.end_datetime,
    coalesce(bi.end_datetime, statement_timestamp()) - bi.start_datetime AS duration,
    bi.execution_context,
    bi.started_by
FROM omd.batch_instance AS bi
INNER JOIN omd.batch AS b ON bi.batch_id = b.batch_id;

COMMENT ON VIEW omd_report.batch_execution_log IS 'Every Batch Instance, with its duration so far.';
COMMENT ON COLUMN omd_report.batch_execution_log.batch_instance_id IS 'The instance.';
COMMENT ON COLUMN omd_report.batch_execution_log.batch_code IS 'The Batch.';
COMMENT ON COLUMN omd_report.batch_execution_log.parent_batch_instance_id IS
'The instance that called it; 0 when none did.';
COMMENT ON COLUMN omd_report.batch_execution_log.execution_status_code IS
'The status: E, S, F, A or C.';
COMMENT ON COLUMN omd_report.batch_execution_log.processing_indicator IS
'The Processing Indicator: P, A or C.';
COMMENT ON COLUMN omd_report.batch_execution_log.next_run_indicator IS
'The Next Run Indicator: P, R or C.';
COMMENT ON COLUMN omd_report.batch_execution_log.reason_code IS
'Why it was aborted or skipped; NULL when it was neither.';
COMMENT ON COLUMN omd_report.batch_execution_log.start_datetime IS 'When it started.';
COMMENT ON COLUMN omd_report.batch_execution_log.end_datetime IS
'When it ended; NULL while it executes.';
COMMENT ON COLUMN omd_report.batch_execution_log.duration IS
'How long it ran, or how long it has been running.';
COMMENT ON COLUMN omd_report.batch_execution_log.execution_context IS
'Where and by what it ran; NULL when no context was given.';
COMMENT ON COLUMN omd_report.batch_execution_log.started_by IS
'The role that began it; NULL for runs from before this was recorded.';
