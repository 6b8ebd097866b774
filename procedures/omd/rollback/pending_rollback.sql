-- A pending rollback is computed from the instances (failed or marked R, and not rolled back yet)
-- and not stored as a flag, which could be wrong.

CREATE OR REPLACE FUNCTION omd.pending_rollback(
    p_module_id integer
)
RETURNS bigint[]
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT omd._with_later_windows(p_module_id, array_agg(mi.module_instance_id))
    FROM omd.module_instance AS mi
    WHERE
        mi.module_id = p_module_id
        AND omd._awaits_rollback(
            mi.execution_status_code, mi.next_run_indicator, mi.rolled_back_by_module_instance_id
        );
END;

COMMENT ON FUNCTION omd.pending_rollback IS
'For rooms: Returns the instances of the Module p_module_id that a begin would roll back now, in '
'the order of their ids; the array is empty when there are none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.pending_rollback TO omd_reader;
