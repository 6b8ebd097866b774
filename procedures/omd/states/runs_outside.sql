-- A run that a process outside of the database performs can be ended from here, since its success
-- is refused then; a statement can't.

CREATE OR REPLACE FUNCTION omd.runs_outside(
    p_instance_array bigint[]
)
RETURNS bigint[]
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT coalesce(array_agg(mi.module_instance_id ORDER BY mi.module_instance_id), '{}')
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m ON mi.module_id = m.module_id
    WHERE
        mi.module_instance_id = any(p_instance_array)
        AND mi.execution_status_code = 'E'
        AND NOT mi.is_session_bound
        AND m.engine_code IS DISTINCT FROM 'POSTGRES';
END;

COMMENT ON FUNCTION omd.runs_outside IS
'For rooms: Returns those of the Module Instances p_instance_array that execute outside of the '
'database, in the order of their ids. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.runs_outside TO omd_admin;
