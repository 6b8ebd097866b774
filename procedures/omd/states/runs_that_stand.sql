-- A run that is marked R does not stand, although its rows do until the rollback is confirmed.

CREATE OR REPLACE FUNCTION omd.runs_that_stand(
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
    WHERE
        mi.module_instance_id = any(p_instance_array)
        AND mi.execution_status_code = 'S'
        AND mi.rolled_back_by_module_instance_id IS NULL
        AND mi.next_run_indicator <> 'R';
END;

COMMENT ON FUNCTION omd.runs_that_stand IS
'For rooms: Returns those of the Module Instances p_instance_array that stand: they succeeded, are '
'not undone, and no rollback of them is pending; in the order of their ids. Locks: none.';
