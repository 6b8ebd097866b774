-- A room that tells others about runs reads this view by ids only, so that its cost does not grow
-- with history.

CREATE OR REPLACE VIEW omd.described_batch_instance AS
SELECT
    bi.batch_instance_id,
    b.batch_code,
    b.batch_description,
    bi.parent_batch_instance_id,
    bi.start_datetime,
    bi.end_datetime,
    bi.execution_status_code,
    bi.reason_code,
    bi.started_by,
    bi.execution_context
FROM omd.batch_instance AS bi
INNER JOIN omd.batch AS b ON bi.batch_id = b.batch_id;

COMMENT ON VIEW omd.described_batch_instance IS
'For rooms: the Batch Instances, as who tells others about them needs them.';
COMMENT ON COLUMN omd.described_batch_instance.batch_instance_id IS 'The instance.';
COMMENT ON COLUMN omd.described_batch_instance.batch_code IS 'The Batch.';
COMMENT ON COLUMN omd.described_batch_instance.batch_description IS
'What the Batch loads; NULL when no description was given.';
COMMENT ON COLUMN omd.described_batch_instance.parent_batch_instance_id IS
'The Batch Instance that called it; 0 when none did.';
COMMENT ON COLUMN omd.described_batch_instance.start_datetime IS 'When it was created.';
COMMENT ON COLUMN omd.described_batch_instance.end_datetime IS
'When it ended; NULL while it executes.';
COMMENT ON COLUMN omd.described_batch_instance.execution_status_code IS 'E, S, F, A or C.';
COMMENT ON COLUMN omd.described_batch_instance.reason_code IS
'Why it was aborted or skipped; NULL when it was neither.';
COMMENT ON COLUMN omd.described_batch_instance.started_by IS
'The role that began it; NULL for runs from before this was recorded.';
COMMENT ON COLUMN omd.described_batch_instance.execution_context IS
'Where and by what it ran; NULL when no context was given.';
