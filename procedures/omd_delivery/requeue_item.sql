-- Whoever does not know what the later items share with it undoes from the newest to the oldest.

CREATE OR REPLACE FUNCTION omd_delivery.requeue_item(
    p_queue_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $requeue_item$
DECLARE
    v_item omd_delivery.delta_queue;
    v_later_id bigint;
BEGIN
    v_item := omd_delivery._hold_item(p_queue_id);
    SELECT q.queue_id INTO v_later_id
    FROM omd_delivery.delta_queue AS q
    WHERE q.interface_id = v_item.interface_id
        AND q.queue_id > p_queue_id
        AND q.queue_status = 'PERSISTED'
    ORDER BY q.queue_id
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd_delivery._raise_item(
            p_queue_id, format('the later item %s was loaded', v_later_id)
        );
    END IF;
    PERFORM omd_delivery.requeue_alone(p_queue_id);
END
$requeue_item$;

COMMENT ON FUNCTION omd_delivery.requeue_item IS
'For rooms: Puts the persisted item p_queue_id back into the queue; its delivery is ACCEPTED '
'again. Errors: OM005: p_queue_id is NULL; OM130: the delivery is in another status; OM135: the '
'item is gone or not PERSISTED, deletes physically, its deltas were purged, or a later item of '
'the interface is persisted, or a run that executes loads it. Locks: the item, the delivery.';
REVOKE ALL ON FUNCTION omd_delivery.requeue_item FROM PUBLIC;
