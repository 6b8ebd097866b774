-- An interface that has a model and is not deployed here is another error than one that is unknown.

CREATE OR REPLACE FUNCTION omd_facts._require_interface(
    p_interface_code text
)
RETURNS omd_facts.interface
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_interface$
DECLARE
    v_interface omd_facts.interface;
BEGIN
    PERFORM omd.require_name('p_interface_code', p_interface_code);
    SELECT i.* INTO v_interface
    FROM omd_facts.interface AS i
    WHERE i.interface_code = p_interface_code;
    IF NOT FOUND THEN
        IF omd_delivery.registry_document(p_interface_code) IS NULL THEN
            PERFORM omd.raise_error(
                'OM031', jsonb_build_object('interface_code', p_interface_code)
            );
        END IF;
        PERFORM omd_facts._raise_not_deployed(p_interface_code);
    END IF;
    RETURN v_interface;
END
$require_interface$;

COMMENT ON FUNCTION omd_facts._require_interface IS
'Returns the interface p_interface_code. Errors: OM005: it is NULL; OM013: it is not allowed as '
'a name; OM031: it has no model; OM251: it is not deployed. Locks: none.';
