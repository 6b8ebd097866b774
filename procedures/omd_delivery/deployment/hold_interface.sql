-- The row of the interface is the lock of both rooms.

CREATE OR REPLACE FUNCTION omd_delivery.hold_interface(
    p_interface_code text
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hold_interface$
BEGIN
    RETURN (omd_delivery._hold_interface(p_interface_code)).interface_id;
END
$hold_interface$;

COMMENT ON FUNCTION omd_delivery.hold_interface IS
'For rooms: Locks the interface p_interface_code and returns its id. Errors: OM005: it is NULL; '
'OM013: it is not allowed as a name; OM031: it has no model. Locks: the interface, until the '
'transaction ends.';
