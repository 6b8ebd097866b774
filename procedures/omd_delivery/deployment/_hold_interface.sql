-- The row of the interface is the one lock of this room, and whoever takes it takes it first.

CREATE OR REPLACE FUNCTION omd_delivery._hold_interface(
    p_interface_code text
)
RETURNS omd_delivery.interface
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hold_interface$
DECLARE
    v_interface omd_delivery.interface;
BEGIN
    PERFORM omd.require_name('p_interface_code', p_interface_code);
    SELECT i.* INTO v_interface
    FROM omd_delivery.interface AS i
    WHERE i.interface_code = p_interface_code
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM031', jsonb_build_object('interface_code', p_interface_code));
    END IF;
    RETURN v_interface;
END
$hold_interface$;

COMMENT ON FUNCTION omd_delivery._hold_interface IS
'Returns the interface p_interface_code. Errors: OM005: it is NULL; OM031: it has no model. Locks:'
' the interface, until the transaction ends.';
