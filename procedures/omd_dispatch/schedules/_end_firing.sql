-- _fire_schedule runs with the rights of a worker, who may not write schedules otherwise.

CREATE OR REPLACE FUNCTION omd_dispatch._end_firing(
    p_schedule_code text,
    p_next_time timestamptz,
    p_anchor_time timestamptz,
    p_attempt integer,
    p_retry_time timestamptz,
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
    SELECT
        omd.write_event(
            0, 0, 4, 'FIRED',
            format(
                '%s: schedule %s, which created %s tasks', omd.editor(), p_schedule_code, p_created
            )
        )
    WHERE omd.is_by_hand();

    UPDATE omd_dispatch.task_schedule AS s SET
        next_time = p_next_time,
        moved_time = p_next_time,
        anchor_time = p_anchor_time,
        attempt = p_attempt,
        failed_time = CASE WHEN p_attempt > 0 THEN p_next_time END,
        retry_time = p_retry_time,
        is_firing = FALSE,
        last_fired_at = clock_timestamp(),
        created_count = s.created_count + p_created,
        skipped_count = s.skipped_count + p_skipped,
        problem = p_problem
    WHERE s.schedule_code = p_schedule_code;
END;

COMMENT ON FUNCTION omd_dispatch._end_firing IS
'Writes what became of a firing of the schedule p_schedule_code: p_created and p_skipped tasks, '
'p_next_time, counted from p_anchor_time; with p_attempt, the number of its failures, p_next_time '
'is tried again at p_retry_time, and p_problem says why. Locks: the schedule.';
GRANT EXECUTE ON FUNCTION omd_dispatch._end_firing TO omd_runner, omd_admin;
