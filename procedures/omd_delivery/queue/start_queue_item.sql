-- Per interface the items are loaded in the order of their commits.

CREATE OR REPLACE FUNCTION omd_delivery.start_queue_item(
    p_queue_id bigint,
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $start_queue_item$
DECLARE
    v_item omd_delivery.delta_queue;
    v_earlier_id bigint;
BEGIN
    v_item := omd_delivery._hold_item(p_queue_id);
    -- The item before it can't be put back meanwhile.
    PERFORM FROM omd_delivery.delta_queue AS q
    WHERE q.interface_id = v_item.interface_id AND q.queue_id < p_queue_id
    ORDER BY q.queue_id DESC
    LIMIT 1
    FOR SHARE;
    SELECT q.queue_id INTO v_earlier_id
    FROM omd_delivery.delta_queue AS q
    WHERE q.interface_id = v_item.interface_id
        AND q.queue_status <> 'PERSISTED'
        AND q.queue_id < p_queue_id
    ORDER BY q.queue_id
    LIMIT 1;
    IF v_item.queue_status = 'PERSISTED' THEN
        PERFORM omd_delivery._raise_item(p_queue_id, 'it is persisted');
    ELSIF v_earlier_id IS NOT NULL THEN
        PERFORM omd_delivery._raise_item(
            p_queue_id, format('item %s comes first', v_earlier_id)
        );
    END IF;
    -- An only run leaves none.
    PERFORM omd_delivery._delete_strays(d.delivery_id)
    FROM omd_delivery.delivery AS d
    WHERE d.delivery_id = v_item.delivery_id AND d.attempt > 1;
    UPDATE omd_delivery.delta_queue AS q SET
        queue_status = 'LOADING',
        started_datetime = clock_timestamp(),
        module_instance_id = p_module_instance_id
    WHERE q.queue_id = p_queue_id;
END
$start_queue_item$;

COMMENT ON FUNCTION omd_delivery.start_queue_item IS
'For rooms: Takes the item p_queue_id to be loaded by p_module_instance_id; an item whose load '
'died is taken again. Errors: OM005: p_queue_id is NULL; OM135: it is gone or persisted, or an '
'earlier item of the interface is not persisted. Locks: the item, the one before it.';
