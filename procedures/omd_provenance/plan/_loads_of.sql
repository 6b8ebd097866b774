-- A plan is made with the rights of the caller, who reads this.

CREATE OR REPLACE FUNCTION omd_provenance._loads_of(
    p_instance_array bigint[]
)
RETURNS bigint[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $loads_of$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT d.load_instance_id
        FROM omd_delivery.deliveries_of_runs(p_instance_array) AS d
        WHERE d.load_instance_id IS NOT NULL
    );
END
$loads_of$;

COMMENT ON FUNCTION omd_provenance._loads_of IS
'Returns the loads that the facts made of the deliveries of the runs p_instance_array. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_provenance._loads_of TO omd_admin;
