-- Who has runs in hand asks here what they are.

CREATE OR REPLACE FUNCTION omd.runs_of_modules(
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    module_id integer,
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
        mi.module_instance_id,
        m.module_id,
        m.module_code,
        m.module_kind_code,
        m.table_code
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m ON mi.module_id = m.module_id
    WHERE mi.module_instance_id = any(p_instance_array);
END;

COMMENT ON FUNCTION omd.runs_of_modules IS
'For rooms: Returns the Module of each of the Module Instances p_instance_array, its kind and its '
'target. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.runs_of_modules TO omd_admin;
