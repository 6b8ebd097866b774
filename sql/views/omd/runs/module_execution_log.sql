-- The view calls no volatile function: one would keep a LIMIT from reaching the index, and a look
-- at the log would read all of it.

CREATE OR REPLACE VIEW omd_report.module_execution_log AS
SELECT
    mi.module_instance_id,
    m.module_code,
    mi.batch_instance_id,
    b.batch_code,
    mi.execution_status_code,
    mi.processing_indicator,
    mi.next_run_indicator,
    mi.reason_code,
    mi.start_datetime,
    mi.end_datetime,
    coalesce(mi.end_datetime, statement_timestamp()) - mi.start_datetime AS duration,
    mi.rows_input,
    mi.rows_inserted,
    mi.rows_updated,
    mi.rows_deleted,
    mi.rows_discarded,
    mi.rows_rejected,
    mi.rollback_instance_array,
    mi.rolled_back_by_module_instance_id,
    mi.execution_context,
    mi.started_by
FROM omd.module_instance AS mi
INNER JOIN omd.module AS m ON mi.module_id = m.module_id
LEFT JOIN omd.batch_instance AS bi ON mi.batch_instance_id = bi.batch_instance_id
LEFT JOIN omd.batch AS b ON bi.batch_id = b.batch_id;

COMMENT ON VIEW omd_report.module_execution_log IS
'Every Module Instance, with its duration so far and its row counts.';
COMMENT ON COLUMN omd_report.module_execution_log.module_instance_id IS 'The instance.';
COMMENT ON COLUMN omd_report.module_execution_log.module_code IS 'The Module.';
COMMENT ON COLUMN omd_report.module_execution_log.batch_instance_id IS
'The Batch Instance that called it; 0 when none did.';
COMMENT ON COLUMN omd_report.module_execution_log.batch_code IS
'The Batch that called it; NULL when none did.';
COMMENT ON COLUMN omd_report.module_execution_log.execution_status_code IS
'The status: E, S, F, A or C.';
COMMENT ON COLUMN omd_report.module_execution_log.processing_indicator IS
'The Processing Indicator: P, A, C or R.';
COMMENT ON COLUMN omd_report.module_execution_log.next_run_indicator IS
'The Next Run Indicator: P, R or C.';
COMMENT ON COLUMN omd_report.module_execution_log.reason_code IS
'Why it was aborted or skipped; NULL when it was neither.';
COMMENT ON COLUMN omd_report.module_execution_log.start_datetime IS 'When it started.';
COMMENT ON COLUMN omd_report.module_execution_log.end_datetime IS
'When it ended; NULL while it executes.';
COMMENT ON COLUMN omd_report.module_execution_log.duration IS
'How long it ran, or how long it has been running.';
COMMENT ON COLUMN omd_report.module_execution_log.rows_input IS 'Rows read.';
COMMENT ON COLUMN omd_report.module_execution_log.rows_inserted IS 'Rows inserted.';
COMMENT ON COLUMN omd_report.module_execution_log.rows_updated IS 'Rows updated.';
COMMENT ON COLUMN omd_report.module_execution_log.rows_deleted IS 'Rows deleted.';
COMMENT ON COLUMN omd_report.module_execution_log.rows_discarded IS 'Rows left out on purpose.';
COMMENT ON COLUMN omd_report.module_execution_log.rows_rejected IS 'Rows refused as bad.';
COMMENT ON COLUMN omd_report.module_execution_log.rollback_instance_array IS
'The instances that it had to undo; NULL when there were none.';
COMMENT ON COLUMN omd_report.module_execution_log.rolled_back_by_module_instance_id IS
'The later instance that undid it; NULL when none did.';
COMMENT ON COLUMN omd_report.module_execution_log.execution_context IS
'Where and by what it ran; NULL when no context was given.';
COMMENT ON COLUMN omd_report.module_execution_log.started_by IS
'The role that began it; NULL for runs from before this was recorded.';
