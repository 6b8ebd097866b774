-- An administrator who edits a schedule at this moment is not waited for.

CREATE OR REPLACE FUNCTION omd_dispatch._lock_due_schedules(
    p_now timestamptz,
    p_limit integer
)
RETURNS SETOF omd_dispatch.task_schedule
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT s.* -- noqa: AM04
    FROM omd_dispatch.task_schedule AS s
    WHERE s.next_time <= p_now
    ORDER BY s.next_time
    LIMIT p_limit
    FOR NO KEY UPDATE SKIP LOCKED;
END;

COMMENT ON FUNCTION omd_dispatch._lock_due_schedules IS
'Returns up to p_limit schedules whose next_time is not later than p_now. Locks: these; locked '
'ones are passed over.';
REVOKE ALL ON FUNCTION omd_dispatch._lock_due_schedules FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_dispatch._lock_due_schedules TO omd_runner, omd_admin;
