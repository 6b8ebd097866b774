-- What is not deployed is reported by the name of its interface, whoever names it.

CREATE OR REPLACE FUNCTION omd_facts._raise_not_deployed(
    p_interface_code text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_not_deployed$
BEGIN
    PERFORM omd.raise_error(
        'OM251',
        jsonb_build_object('interface_code', p_interface_code, 'problem', 'it is not deployed')
    );
END
$raise_not_deployed$;

COMMENT ON FUNCTION omd_facts._raise_not_deployed IS
'Raises OM251: the interface p_interface_code is not deployed. Locks: none.';
