-- What a load has failed to take is in the queue again, so that it can be reverted.

CREATE OR REPLACE FUNCTION omd_delivery.release_queue_item(
    p_queue_id bigint,
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $release_queue_item$
BEGIN
    UPDATE omd_delivery.delta_queue AS q SET
        queue_status = 'QUEUED',
        started_datetime = NULL,
        module_instance_id = NULL
    WHERE q.queue_id = p_queue_id
        AND q.queue_status = 'LOADING'
        AND q.module_instance_id = p_module_instance_id
        AND NOT coalesce(omd.instance_lives(p_module_instance_id), FALSE);
END
$release_queue_item$;

COMMENT ON FUNCTION omd_delivery.release_queue_item IS
'For rooms: Puts the item p_queue_id, which p_module_instance_id has failed to load, back into the '
'queue; an item that another run has taken meanwhile stays as it is. Locks: the item.';
