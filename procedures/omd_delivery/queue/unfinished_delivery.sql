-- While one is there, nobody changes the facts of the interface by hand.

CREATE OR REPLACE FUNCTION omd_delivery.unfinished_delivery(
    p_interface_id integer
)
RETURNS bigint
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $unfinished_delivery$
BEGIN
    RETURN (
        SELECT min(d.delivery_id)
        FROM omd_delivery.delivery AS d
        WHERE d.interface_id = p_interface_id
            AND d.layer_code = 'LVL'
            AND d.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED')
    );
END
$unfinished_delivery$;

COMMENT ON FUNCTION omd_delivery.unfinished_delivery IS
'For rooms: Returns the oldest LVL delivery of the interface p_interface_id that is not at an '
'end; NULL when there is none. Locks: none.';
