-- A room that tells others about runs reads this view by ids only, so that its cost does not grow
-- with history.

CREATE OR REPLACE VIEW omd.described_module_instance AS
SELECT
    mi.module_instance_id,
    mi.module_id,
    mi.batch_instance_id,
    mi.start_datetime,
    mi.end_datetime,
    mi.execution_status_code,
    mi.reason_code,
    mi.started_by,
    mi.execution_context,
    mi.rollback_instance_array,
    mi.rolled_back_by_module_instance_id,
    mi.rows_input,
    mi.rows_inserted,
    mi.rows_updated,
    mi.rows_deleted,
    mi.rows_discarded,
    mi.rows_rejected
FROM omd.module_instance AS mi
WHERE mi.module_id IS NOT NULL;

COMMENT ON VIEW omd.described_module_instance IS
'For rooms: the Module Instances, as who tells others about them needs them.';
COMMENT ON COLUMN omd.described_module_instance.module_instance_id IS 'The instance.';
COMMENT ON COLUMN omd.described_module_instance.module_id IS 'The Module.';
COMMENT ON COLUMN omd.described_module_instance.batch_instance_id IS
'The Batch Instance that called it; 0 when none did.';
COMMENT ON COLUMN omd.described_module_instance.start_datetime IS 'When it was created.';
COMMENT ON COLUMN omd.described_module_instance.end_datetime IS
'When it ended; NULL while it executes.';
COMMENT ON COLUMN omd.described_module_instance.execution_status_code IS 'E, S, F, A or C.';
COMMENT ON COLUMN omd.described_module_instance.reason_code IS
'Why it was aborted or skipped; NULL when it was neither.';
COMMENT ON COLUMN omd.described_module_instance.started_by IS
'The role that began it; NULL for runs from before this was recorded.';
COMMENT ON COLUMN omd.described_module_instance.execution_context IS
'Where and by what it ran; NULL when no context was given.';
COMMENT ON COLUMN omd.described_module_instance.rollback_instance_array IS
'The instances that it had to undo.';
COMMENT ON COLUMN omd.described_module_instance.rolled_back_by_module_instance_id IS
'The later instance that undid it; NULL when none did.';
COMMENT ON COLUMN omd.described_module_instance.rows_input IS 'Rows read.';
COMMENT ON COLUMN omd.described_module_instance.rows_inserted IS 'Rows inserted.';
COMMENT ON COLUMN omd.described_module_instance.rows_updated IS 'Rows updated.';
COMMENT ON COLUMN omd.described_module_instance.rows_deleted IS 'Rows deleted.';
COMMENT ON COLUMN omd.described_module_instance.rows_discarded IS 'Rows left out on purpose.';
COMMENT ON COLUMN omd.described_module_instance.rows_rejected IS 'Rows refused as bad.';
