-- In the middle of the queue an item is alone when the loads of all later ones that share an entity
-- are undone; the facts know that. A run that loads a later item at this moment would overtake it;
-- one that has died leaves its item LOADING, and the next load takes the oldest item that is not
-- persisted: such an item is in nobody's way.

CREATE OR REPLACE FUNCTION omd_delivery.requeue_alone(
    p_queue_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $requeue_alone$
DECLARE
    v_item omd_delivery.delta_queue;
    v_delivery omd_delivery.delivery;
    v_later_id bigint;
    v_problem text;
BEGIN
    v_item := omd_delivery._hold_item(p_queue_id);
    SELECT d.* INTO v_delivery
    FROM omd_delivery.delivery AS d
    WHERE d.delivery_id = v_item.delivery_id
    FOR NO KEY UPDATE;
    SELECT q.queue_id INTO v_later_id
    FROM omd_delivery.delta_queue AS q
    WHERE q.interface_id = v_item.interface_id
        AND q.queue_id > p_queue_id
        AND q.queue_status = 'LOADING'
        AND NOT EXISTS (
            SELECT FROM omd.instance_state(q.module_instance_id) AS mi
            WHERE mi.execution_status_code <> 'E'
        )
    ORDER BY q.queue_id
    LIMIT 1;
    v_problem := CASE
        WHEN v_item.queue_status <> 'PERSISTED' THEN 'it is ' || v_item.queue_status
        WHEN v_item.delete_type = 'PHYSICAL' THEN 'it deletes physically'
        WHEN v_delivery.purged_datetime IS NOT NULL THEN 'its deltas were purged'
        WHEN v_later_id IS NOT NULL THEN format('the later item %s is being loaded', v_later_id)
    END;
    IF v_problem IS NOT NULL THEN
        PERFORM omd_delivery._raise_item(p_queue_id, v_problem);
    END IF;
    UPDATE omd_delivery.delta_queue AS q SET
        queue_status = 'QUEUED',
        started_datetime = NULL,
        finished_datetime = NULL,
        module_instance_id = NULL
    WHERE q.queue_id = p_queue_id;
    PERFORM omd_delivery._move(v_item.delivery_id, 'ACCEPTED', 'requeue_item', NULL);
END
$requeue_alone$;

COMMENT ON FUNCTION omd_delivery.requeue_alone IS
'For rooms: Puts the persisted item p_queue_id back into the queue, also when later items of the '
'interface are persisted that share no entity with it; its delivery is ACCEPTED again. Errors: '
'OM005: p_queue_id is NULL; OM130: the delivery is in another status; OM135: the item is gone or '
'not PERSISTED, deletes physically, its deltas were purged, or a run loads a later item of the '
'interface. Locks: the item, the delivery.';
