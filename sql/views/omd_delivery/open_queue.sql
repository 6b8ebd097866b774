-- The condition is that of an index, so what is persisted costs nothing.

CREATE OR REPLACE VIEW omd_delivery.open_queue AS
SELECT
    q.queue_id,
    q.interface_id,
    q.delivery_id,
    q.model_version,
    q.queued_datetime
FROM omd_delivery.delta_queue AS q
WHERE q.queue_status <> 'PERSISTED';

COMMENT ON VIEW omd_delivery.open_queue IS
'For rooms: the accepted deliveries that the facts have not taken yet.';
COMMENT ON COLUMN omd_delivery.open_queue.queue_id IS
'The item; per interface the order in which they are taken.';
COMMENT ON COLUMN omd_delivery.open_queue.interface_id IS 'The interface.';
COMMENT ON COLUMN omd_delivery.open_queue.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_delivery.open_queue.model_version IS
'The version of the model that its load needs.';
COMMENT ON COLUMN omd_delivery.open_queue.queued_datetime IS 'When it was queued.';
