-- An evaluation looks at the instances that execute, ask for a skip, or wait for a rollback. The
-- planner inlines the function, as omd._awaits_rollback, and joins what two indexes answer.

CREATE OR REPLACE FUNCTION omd._is_open(
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
        p_execution_status_code = 'E'
        OR p_next_run_indicator = 'C'
        OR omd._awaits_rollback(
            p_execution_status_code, p_next_run_indicator, p_rolled_back_by
        );
END;

COMMENT ON FUNCTION omd._is_open IS
'Returns whether a Module Instance with these values of execution_status_code, next_run_indicator '
'and rolled_back_by_module_instance_id executes, asks for the next run to be skipped, or waits '
'for a rollback. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._is_open TO omd_reader;
