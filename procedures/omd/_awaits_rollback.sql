-- The one place that says when a rollback is pending on an instance: it has ended, it failed or was
-- marked R, and nobody has undone it yet. Inlined wherever it is called, so that the partial index
-- ix_module_instance_open serves it. The index keeps the expression as text of its own: an index on
-- this function would be silently wrong, not just slow, once a later version says something else.

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
'Whether a rollback is pending on a Module Instance with these values of execution_status_code, '
'next_run_indicator and rolled_back_by_module_instance_id. Locks: none.';
REVOKE ALL ON FUNCTION omd._awaits_rollback FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._awaits_rollback TO omd_reader;
