-- The facts take the items of an interface one by one.

CREATE OR REPLACE FUNCTION omd_delivery.next_queue_item(
    p_interface_id integer
)
RETURNS bigint
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $next_queue_item$
BEGIN
    RETURN (
        SELECT min(q.queue_id)
        FROM omd_delivery.delta_queue AS q
        WHERE q.interface_id = p_interface_id AND q.queue_status <> 'PERSISTED'
    );
END
$next_queue_item$;

COMMENT ON FUNCTION omd_delivery.next_queue_item IS
'For rooms: Returns the oldest item of the queue of the interface p_interface_id that is not '
'persisted; NULL when there is none. Locks: none.';
