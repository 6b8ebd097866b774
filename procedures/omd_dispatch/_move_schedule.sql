-- _fire_schedules runs with the rights of a worker, who may not write schedules otherwise.

CREATE OR REPLACE FUNCTION omd_dispatch._move_schedule(
    p_schedule_code text,
    p_next_time timestamptz,
    p_created bigint,
    p_skipped bigint,
    p_problem text
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    UPDATE omd_dispatch.task_schedule AS s SET
        next_time = p_next_time,
        last_fired_at = clock_timestamp(),
        created_count = s.created_count + p_created,
        skipped_count = s.skipped_count + p_skipped,
        problem = p_problem
    WHERE s.schedule_code = p_schedule_code;
END;

COMMENT ON FUNCTION omd_dispatch._move_schedule IS
'Writes what became of a firing of the schedule p_schedule_code: p_next_time, p_created and '
'p_skipped tasks, p_problem. Locks: the schedule.';
REVOKE ALL ON FUNCTION omd_dispatch._move_schedule FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_dispatch._move_schedule TO omd_runner, omd_admin;
