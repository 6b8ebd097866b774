-- A run is as alive as the first of its entities that dies: the others could not be applied
-- without it. A view asks too, so it must not be volatile.

CREATE OR REPLACE FUNCTION omd_delivery._run_lives(
    p_delivery_id bigint
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $run_lives$
BEGIN
    RETURN coalesce(
        (
            SELECT bool_and(omd.instance_lives(e.module_instance_id))
            FROM omd_delivery.delivery_entity AS e
            WHERE e.delivery_id = p_delivery_id
        ),
        FALSE
    );
END
$run_lives$;

COMMENT ON FUNCTION omd_delivery._run_lives IS
'Returns whether all Module Instances of the newest run of the delivery p_delivery_id live. Locks:'
' none.';
GRANT EXECUTE ON FUNCTION omd_delivery._run_lives TO omd_reader;
