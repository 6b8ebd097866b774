-- It is the last act of the transaction in which the facts have loaded the item.

CREATE OR REPLACE FUNCTION omd_delivery.finish_queue_item(
    p_queue_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $finish_queue_item$
DECLARE
    v_item omd_delivery.delta_queue;
BEGIN
    v_item := omd_delivery._hold_item(p_queue_id);
    IF v_item.queue_status = 'PERSISTED' THEN
        RETURN;
    ELSIF v_item.queue_status <> 'LOADING' THEN
        PERFORM omd_delivery._raise_item(p_queue_id, 'its load has not begun');
    END IF;
    IF v_item.delete_type = 'PHYSICAL' THEN
        PERFORM omd_delivery._forget_keys(v_item, e.entity_id)
        FROM unnest(v_item.entity_ids) AS e (entity_id);
    END IF;
    UPDATE omd_delivery.delta_queue AS q SET
        queue_status = 'PERSISTED',
        finished_datetime = clock_timestamp()
    WHERE q.queue_id = p_queue_id;
    PERFORM omd_delivery._move(
        d.delivery_id,
        CASE d.verdict
            WHEN 'ACCEPTED WITH FINDINGS' THEN 'PERSISTED WITH VIOLATED CONSTRAINTS'
            ELSE 'PERSISTED'
        END,
        'finish_queue_item',
        NULL
    )
    FROM omd_delivery.delivery AS d
    WHERE d.delivery_id = v_item.delivery_id;
END
$finish_queue_item$;

COMMENT ON FUNCTION omd_delivery.finish_queue_item IS
'For rooms: Ends the load of the item p_queue_id: the delivery is PERSISTED, or PERSISTED WITH '
'VIOLATED CONSTRAINTS after a verdict with findings. The keys that a PHYSICAL one deleted leave '
'its delta. A second call changes nothing. Errors: OM005: p_queue_id is NULL; OM130: the '
'delivery is not ACCEPTED; OM135: the item is gone, or its load has not begun. Locks: the item, '
'the delivery.';
