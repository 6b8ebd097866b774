-- A plan is made with the rights of the caller, who reads this.

CREATE OR REPLACE FUNCTION omd_provenance._modules_of(
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    module_code text,
    module_kind_code text,
    table_code text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        r.module_instance_id,
        r.module_code,
        r.module_kind_code,
        r.table_code
    FROM omd.runs_of_modules(p_instance_array) AS r;
END;

COMMENT ON FUNCTION omd_provenance._modules_of IS
'Returns the Module of each of the runs p_instance_array, its kind and its target. Locks: none.';
REVOKE ALL ON FUNCTION omd_provenance._modules_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_provenance._modules_of TO omd_admin;
