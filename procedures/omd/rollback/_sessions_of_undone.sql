-- A run that was declared dead may be frozen with a transaction open, whose locks a rollback waits
-- for. The connections that `run.connect` makes hold an advisory lock with the number of their run:
-- everybody sees it, whoever connects. Whoever takes it without being one ends his own session only
-- where the caller might have ended it anyway.

CREATE OR REPLACE FUNCTION omd._sessions_of_undone(
    p_module_instance_id bigint
)
RETURNS integer[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $sessions_of_undone$
DECLARE
    v_class CONSTANT oid := 1869440114::oid;
    v_pids integer[];
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_locks AS l
        WHERE l.locktype = 'advisory' AND l.classid = v_class AND l.objsubid = 2
    ) THEN
        RETURN '{}'::integer[];
    END IF;
    SELECT coalesce(array_agg(DISTINCT l.pid ORDER BY l.pid), '{}') INTO v_pids
    FROM omd._rollback_parts(p_module_instance_id) AS p
    CROSS JOIN unnest(p.instance_array) AS u (module_instance_id)
    INNER JOIN pg_locks AS l
        ON
            l.locktype = 'advisory'
            AND l.database = (
                SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()
            )
            AND l.classid = v_class
            AND l.objid = (u.module_instance_id % 2147483647)::oid
            AND l.objsubid = 2
    WHERE
        l.granted
        AND l.pid <> pg_backend_pid()
        AND EXISTS (
            SELECT FROM omd.module_instance AS mi
            WHERE
                mi.module_instance_id = u.module_instance_id
                AND mi.execution_status_code <> 'E'
        )
        -- It is in a transaction that may hold what a rollback waits for.
        AND EXISTS (
            SELECT FROM pg_locks AS h
            WHERE h.pid = l.pid AND h.granted AND h.locktype IN ('relation', 'transactionid')
        );
    RETURN v_pids;
END
$sessions_of_undone$;

COMMENT ON FUNCTION omd._sessions_of_undone IS
'Returns the process ids of the sessions that runs which the pending rollback of '
'p_module_instance_id undoes have made by the driver''s run.connect, and that hold locks in a '
'transaction. Errors: OM004, OM005. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._sessions_of_undone TO omd_runner;
