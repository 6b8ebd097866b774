-- A publisher of events reads this view by ids only, so that its cost does not grow with history.
-- What began before has_proceeded was recorded has proceeded if its state says so.

CREATE OR REPLACE VIEW omd.followed_module_instance AS
SELECT
    mi.module_instance_id,
    mi.module_id,
    mi.batch_instance_id,
    mi.start_datetime,
    mi.end_datetime,
    mi.proceeded_datetime,
    mi.execution_status_code,
    mi.reason_code,
    mi.rows_input,
    mi.rows_inserted,
    mi.rows_updated,
    mi.rows_deleted,
    mi.rows_discarded,
    mi.rows_rejected,
    coalesce(
        mi.has_proceeded,
        mi.execution_status_code IN ('S', 'F') OR mi.processing_indicator IN ('P', 'R')
    ) AS has_proceeded
FROM omd.module_instance AS mi
WHERE mi.module_id IS NOT NULL;

COMMENT ON VIEW omd.followed_module_instance IS
'For rooms: the Module Instances, as who follows their state needs them.';
COMMENT ON COLUMN omd.followed_module_instance.module_instance_id IS
'Order of instances is by this ID, never by time.';
COMMENT ON COLUMN omd.followed_module_instance.module_id IS 'The Module.';
COMMENT ON COLUMN omd.followed_module_instance.batch_instance_id IS
'The Batch Instance that called; 0 when run on its own.';
COMMENT ON COLUMN omd.followed_module_instance.start_datetime IS 'When the instance was created.';
COMMENT ON COLUMN omd.followed_module_instance.end_datetime IS
'When the instance ended; NULL exactly while it executes.';
COMMENT ON COLUMN omd.followed_module_instance.proceeded_datetime IS
'When a later transaction than its creation let it proceed; NULL: at its start, or never.';
COMMENT ON COLUMN omd.followed_module_instance.execution_status_code IS
'E executing, S succeeded, F failed, A aborted, C skipped.';
COMMENT ON COLUMN omd.followed_module_instance.reason_code IS
'Why it was aborted or skipped by its evaluation.';
COMMENT ON COLUMN omd.followed_module_instance.rows_input IS 'Rows read.';
COMMENT ON COLUMN omd.followed_module_instance.rows_inserted IS 'Rows inserted.';
COMMENT ON COLUMN omd.followed_module_instance.rows_updated IS 'Rows updated.';
COMMENT ON COLUMN omd.followed_module_instance.rows_deleted IS 'Rows deleted.';
COMMENT ON COLUMN omd.followed_module_instance.rows_discarded IS 'Rows discarded.';
COMMENT ON COLUMN omd.followed_module_instance.rows_rejected IS 'Rows rejected.';
COMMENT ON COLUMN omd.followed_module_instance.has_proceeded IS
'TRUE: an evaluation has answered P or R.';
