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
WHERE
    bi.execution_status_code = 'F'
    -- Who skips a run that was allowed to proceed has looked at the failure; when nothing is left
    -- to undo, it is settled.
    AND NOT (
        EXISTS (
            SELECT FROM omd.batch_instance AS c
            WHERE
                c.batch_id = b.batch_id
                AND c.batch_instance_id > bi.batch_instance_id
                AND c.execution_status_code = 'C'
                AND c.has_proceeded
        )
        AND NOT omd._batch_rollback_is_pending(b.batch_id)
    );

COMMENT ON VIEW omd.failed_batch IS
'For rooms: '
'The Batches whose last real run has failed, and was not settled by a rollback and a skip.';
COMMENT ON COLUMN omd.failed_batch.batch_code IS 'The Batch.';
COMMENT ON COLUMN omd.failed_batch.batch_instance_id IS 'That run.';
COMMENT ON COLUMN omd.failed_batch.end_datetime IS 'When it ended.';
