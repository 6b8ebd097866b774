-- LIMIT keeps the status out of the look for the last run: with it the planner would read all
-- failures of the Batch.

CREATE OR REPLACE VIEW omd.failed_batch AS
SELECT
    b.batch_code,
    bi.batch_instance_id,
    bi.end_datetime
FROM omd.batch AS b
CROSS JOIN
    LATERAL (
        SELECT
            n.batch_instance_id,
            n.execution_status_code,
            n.end_datetime
        FROM omd.batch_instance AS n
        WHERE n.batch_instance_id = omd._last_real_batch_run(b.batch_id)
        ORDER BY n.batch_instance_id
        LIMIT 1
    ) AS bi
WHERE bi.execution_status_code = 'F';

COMMENT ON VIEW omd.failed_batch IS 'The Batches whose last real run has failed.';
COMMENT ON COLUMN omd.failed_batch.batch_code IS 'The Batch.';
COMMENT ON COLUMN omd.failed_batch.batch_instance_id IS 'That run.';
COMMENT ON COLUMN omd.failed_batch.end_datetime IS 'When it ended.';
