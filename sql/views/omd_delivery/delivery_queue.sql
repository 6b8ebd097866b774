-- It shows the queue as the facts take it.

CREATE OR REPLACE VIEW omd_report.delivery_queue AS
SELECT
    q.queue_id,
    i.interface_code,
    q.delivery_id,
    q.snapshot_datetime,
    q.delete_type,
    q.queue_status,
    q.row_counts,
    q.model_version,
    q.queued_datetime,
    q.started_datetime,
    q.finished_datetime,
    q.module_instance_id
FROM omd_delivery.delta_queue AS q
INNER JOIN omd_delivery.interface AS i ON q.interface_id = i.interface_id;

COMMENT ON VIEW omd_report.delivery_queue IS 'The accepted deliveries, and how far the facts are.';
COMMENT ON COLUMN omd_report.delivery_queue.queue_id IS
'The item; per interface the order in which they are taken.';
COMMENT ON COLUMN omd_report.delivery_queue.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.delivery_queue.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_report.delivery_queue.snapshot_datetime IS 'Its time T.';
COMMENT ON COLUMN omd_report.delivery_queue.delete_type IS 'LOGICAL or PHYSICAL.';
COMMENT ON COLUMN omd_report.delivery_queue.queue_status IS 'QUEUED, LOADING or PERSISTED.';
COMMENT ON COLUMN omd_report.delivery_queue.row_counts IS
'How many rows of each entity are N, A and R.';
COMMENT ON COLUMN omd_report.delivery_queue.model_version IS
'The version of the model with which the delta was made.';
COMMENT ON COLUMN omd_report.delivery_queue.queued_datetime IS 'When it was queued.';
COMMENT ON COLUMN omd_report.delivery_queue.started_datetime IS 'When its load began; NULL before.';
COMMENT ON COLUMN omd_report.delivery_queue.finished_datetime IS
'When it was persisted; NULL before.';
COMMENT ON COLUMN omd_report.delivery_queue.module_instance_id IS
'The Module Instance of the load; NULL before.';
