-- What the facts need of an item; they do not read the queue themselves.

CREATE OR REPLACE FUNCTION omd_delivery.queue_item(
    p_queue_id bigint,
    OUT delivery_id bigint,
    OUT interface_id integer,
    OUT snapshot_datetime timestamptz,
    OUT delete_type text,
    OUT entity_ids integer[],
    OUT delivered_entity_ids integer[],
    OUT model_version integer
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $queue_item$
BEGIN
    SELECT
        q.delivery_id,
        q.interface_id,
        q.snapshot_datetime,
        q.delete_type,
        q.entity_ids,
        q.delivered_entity_ids,
        q.model_version
    INTO
        delivery_id, interface_id, snapshot_datetime, delete_type, entity_ids,
        delivered_entity_ids, model_version
    FROM omd_delivery.delta_queue AS q
    WHERE q.queue_id = p_queue_id;
END
$queue_item$;

COMMENT ON FUNCTION omd_delivery.queue_item IS
'For rooms: Returns the item p_queue_id of the queue; NULLs when there is none. Locks: none.';
