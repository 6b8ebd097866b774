-- A publisher of events reads this view by ids only, so that its cost does not grow with history.
-- What began before has_proceeded was recorded has proceeded if its state says so.

CREATE OR REPLACE VIEW omd.followed_batch_instance AS
SELECT
    bi.batch_instance_id,
    bi.batch_id,
    bi.parent_batch_instance_id,
    bi.start_datetime,
    bi.end_datetime,
    bi.proceeded_datetime,
    bi.execution_status_code,
    bi.reason_code,
    coalesce(
        bi.has_proceeded,
        bi.execution_status_code IN ('S', 'F') OR bi.processing_indicator = 'P'
    ) AS has_proceeded
FROM omd.batch_instance AS bi
WHERE bi.batch_id IS NOT NULL;

COMMENT ON VIEW omd.followed_batch_instance IS
'For rooms: the Batch Instances, as who follows their state needs them.';
COMMENT ON COLUMN omd.followed_batch_instance.batch_instance_id IS
'Order of instances is by this ID, never by time.';
COMMENT ON COLUMN omd.followed_batch_instance.batch_id IS 'The Batch.';
COMMENT ON COLUMN omd.followed_batch_instance.parent_batch_instance_id IS
'The Batch Instance that called; 0 for none.';
COMMENT ON COLUMN omd.followed_batch_instance.start_datetime IS 'When the instance was created.';
COMMENT ON COLUMN omd.followed_batch_instance.end_datetime IS
'When the instance ended; NULL exactly while it executes.';
COMMENT ON COLUMN omd.followed_batch_instance.proceeded_datetime IS
'When a later transaction than its creation let it proceed; NULL: at its start, or never.';
COMMENT ON COLUMN omd.followed_batch_instance.execution_status_code IS
'E executing, S succeeded, F failed, A aborted, C skipped.';
COMMENT ON COLUMN omd.followed_batch_instance.reason_code IS
'Why it was aborted or skipped by its evaluation.';
COMMENT ON COLUMN omd.followed_batch_instance.has_proceeded IS
'TRUE: an evaluation has answered P.';
