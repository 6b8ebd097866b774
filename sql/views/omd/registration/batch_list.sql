-- The newest instance is found by one look into an index per Batch, whatever the history.

CREATE OR REPLACE VIEW omd_report.batch_list AS
SELECT
    b.batch_id,
    b.batch_code,
    b.batch_description,
    b.frequency_code,
    b.inactive_indicator,
    b.continue_on_failure,
    (SELECT count(*) FROM omd.batch_module AS bm WHERE bm.batch_id = b.batch_id) AS module_count,
    last_run.batch_instance_id AS last_batch_instance_id,
    last_run.execution_status_code AS last_execution_status_code,
    last_run.start_datetime AS last_start_datetime,
    last_run.end_datetime AS last_end_datetime
FROM omd.batch AS b
LEFT JOIN LATERAL (
    SELECT
        bi.batch_instance_id,
        bi.execution_status_code,
        bi.start_datetime,
        bi.end_datetime
    FROM omd.batch_instance AS bi
    -- Not =, with which the planner would walk the primary key past other Batches.
    WHERE bi.batch_id >= b.batch_id AND bi.batch_id <= b.batch_id
    ORDER BY bi.batch_id DESC, bi.batch_instance_id DESC
    LIMIT 1
) AS last_run ON TRUE;

COMMENT ON VIEW omd_report.batch_list IS 'Batches, each with its newest instance.';
COMMENT ON COLUMN omd_report.batch_list.batch_id IS 'Surrogate key of the Batch.';
COMMENT ON COLUMN omd_report.batch_list.batch_code IS 'The Batch.';
COMMENT ON COLUMN omd_report.batch_list.batch_description IS
'What the Batch loads; NULL when no description was given.';
COMMENT ON COLUMN omd_report.batch_list.frequency_code IS 'How often the Batch may succeed.';
COMMENT ON COLUMN omd_report.batch_list.inactive_indicator IS
'Y: each run of the Batch is skipped.';
COMMENT ON COLUMN omd_report.batch_list.continue_on_failure IS
'run_batch goes on after a Module has failed.';
COMMENT ON COLUMN omd_report.batch_list.module_count IS 'The number of Modules in the Batch.';
COMMENT ON COLUMN omd_report.batch_list.last_batch_instance_id IS
'The newest instance, whatever its status; NULL when the Batch has never run.';
COMMENT ON COLUMN omd_report.batch_list.last_execution_status_code IS
'The status of the newest instance; NULL when the Batch has never run.';
COMMENT ON COLUMN omd_report.batch_list.last_start_datetime IS
'When the newest instance started; NULL when the Batch has never run.';
COMMENT ON COLUMN omd_report.batch_list.last_end_datetime IS
'When the newest instance ended; NULL when the Batch has never run or executes.';
