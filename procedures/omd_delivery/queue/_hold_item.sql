-- A revert and a load lock the item, so only one of them gets it.

CREATE OR REPLACE FUNCTION omd_delivery._hold_item(
    p_queue_id bigint
)
RETURNS omd_delivery.delta_queue
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $hold_item$
DECLARE
    v_item omd_delivery.delta_queue;
BEGIN
    p_queue_id := omd.require_argument('p_queue_id', p_queue_id);
    SELECT q.* INTO v_item
    FROM omd_delivery.delta_queue AS q
    WHERE q.queue_id = p_queue_id
    FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM omd_delivery._raise_item(p_queue_id, 'it is gone');
    END IF;
    RETURN v_item;
END
$hold_item$;

COMMENT ON FUNCTION omd_delivery._hold_item IS
'Returns the item p_queue_id of the queue. Errors: OM005: it is NULL; OM135: it is gone. Locks: '
'the item.';
