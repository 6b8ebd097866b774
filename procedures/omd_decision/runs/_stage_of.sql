-- A Module that is a stage is begun by its code.

CREATE OR REPLACE FUNCTION omd_decision._stage_of(
    p_module_code text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $stage_of$
BEGIN
    RETURN (
        SELECT s.stage_code
        FROM omd.module_target AS m
        INNER JOIN omd_decision.stage AS s USING (module_id)
        WHERE m.module_code = p_module_code
    );
END
$stage_of$;

COMMENT ON FUNCTION omd_decision._stage_of IS
'Returns the stage whose runs are those of the Module p_module_code. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._stage_of TO omd_runner;
