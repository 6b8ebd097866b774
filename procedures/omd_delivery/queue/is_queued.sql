-- A run of the facts until all is done loads what was there when it began, and not what comes
-- meanwhile, or it would never end.

CREATE OR REPLACE FUNCTION omd_delivery.is_queued(
    p_interface_id integer,
    p_until timestamptz
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $is_queued$
BEGIN
    RETURN EXISTS (
        SELECT FROM omd_delivery.delta_queue AS q
        WHERE q.interface_id = p_interface_id
            AND q.queue_status <> 'PERSISTED'
            AND q.queued_datetime <= p_until
    );
END
$is_queued$;

COMMENT ON FUNCTION omd_delivery.is_queued IS
'For rooms: Tells whether an item of the interface p_interface_id that was queued at p_until is '
'not persisted yet. Locks: none.';
