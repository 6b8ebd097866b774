-- The Module of exports has no target of its own: each one goes where its agreement says.

CREATE OR REPLACE FUNCTION omd_facts.exports_of_runs(
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    delivery_id bigint,
    target_uri text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        e.module_instance_id,
        e.delivery_id,
        e.target_uri
    FROM omd_facts.export AS e
    WHERE e.module_instance_id = any(p_instance_array);
END;

COMMENT ON FUNCTION omd_facts.exports_of_runs IS
'For rooms: Returns the exports that the runs p_instance_array have written, and where to. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_facts.exports_of_runs TO omd_admin;
