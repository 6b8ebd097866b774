-- A Module that is an interface is begun by its code.

CREATE OR REPLACE FUNCTION omd_facts._interface_of(
    p_module_code text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $interface_of$
BEGIN
    RETURN (
        SELECT i.interface_code
        FROM omd.module_target AS m
        INNER JOIN omd_facts.interface AS i USING (module_id)
        WHERE m.module_code = p_module_code
    );
END
$interface_of$;

COMMENT ON FUNCTION omd_facts._interface_of IS
'Returns the interface whose loads are the runs of the Module p_module_code. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_facts._interface_of TO omd_runner;
