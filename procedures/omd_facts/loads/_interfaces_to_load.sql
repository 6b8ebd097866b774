-- load_all has no rights of its own.

CREATE OR REPLACE FUNCTION omd_facts._interfaces_to_load(
    p_interface_code text
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $interfaces_to_load$
BEGIN
    IF p_interface_code IS NOT NULL THEN
        RETURN ARRAY[(omd_facts._require_interface(p_interface_code)).interface_code];
    END IF;
    RETURN ARRAY(SELECT i.interface_code FROM omd_facts.interface AS i ORDER BY i.interface_code);
END
$interfaces_to_load$;

COMMENT ON FUNCTION omd_facts._interfaces_to_load IS
'Returns p_interface_code as a list, or every interface that is deployed. Errors: OM013, OM031, '
'OM251. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_facts._interfaces_to_load TO omd_runner;
