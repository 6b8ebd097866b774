-- This is the one place that says when a rollback is pending on an instance: it has ended, it
-- failed or was marked R, and it is not undone yet. The planner inlines it wherever it is called,
-- so that the partial index ix_module_instance_waiting serves it. The index repeats the expression:
-- an index on this function would need no copy, but it would be silently wrong once a later version
-- changes the function.

CREATE OR REPLACE FUNCTION omd._awaits_rollback(
    p_execution_status_code text,
    p_next_run_indicator text,
    p_rolled_back_by bigint
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        (p_execution_status_code = 'F' OR p_next_run_indicator = 'R')
        AND p_rolled_back_by IS NULL
        AND p_execution_status_code <> 'E';
END;

COMMENT ON FUNCTION omd._awaits_rollback IS
'Returns whether a rollback is pending on a Module Instance with these values of '
'execution_status_code, next_run_indicator and rolled_back_by_module_instance_id. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._awaits_rollback TO omd_reader;
