-- A Batch is two looks into an index, so the cost does not grow with history.

CREATE OR REPLACE VIEW omd.overdue_batch AS
SELECT
    b.batch_code,
    b.frequency_code,
    bi.batch_instance_id,
    bi.start_datetime AS since_datetime
FROM omd.batch AS b
INNER JOIN omd.frequency AS f ON b.frequency_code = f.frequency_code
LEFT JOIN omd.batch_instance AS bi
    ON bi.batch_instance_id = omd._last_real_batch_run(b.batch_id)
WHERE
    b.inactive_indicator = 'N'
    AND f.frequency_interval IS NOT NULL
    AND coalesce(bi.start_datetime, '-infinity') + 2 * f.frequency_interval < statement_timestamp()
    AND NOT EXISTS (
        SELECT FROM omd.batch_instance AS e
        WHERE e.batch_id = b.batch_id AND e.execution_status_code = 'E'
    );

COMMENT ON VIEW omd.overdue_batch IS
'For rooms: '
'The Batches whose last real run began two intervals of their frequency ago, or that never had '
'one, and that do not execute.';
COMMENT ON COLUMN omd.overdue_batch.batch_code IS 'The Batch.';
COMMENT ON COLUMN omd.overdue_batch.frequency_code IS 'Its frequency.';
COMMENT ON COLUMN omd.overdue_batch.batch_instance_id IS 'Its last real run; NULL: there was none.';
COMMENT ON COLUMN omd.overdue_batch.since_datetime IS
'When that run began; NULL: there was none.';
