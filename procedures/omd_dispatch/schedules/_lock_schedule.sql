-- An administrator who edits a schedule at this moment is not waited for. A session that reads a
-- source may end meanwhile: what it would have written is not there, so the schedule says
-- beforehand that it is being fired, and is tried again as after an error.

CREATE OR REPLACE FUNCTION omd_dispatch._lock_schedule(
    p_schedule_code text,
    p_is_begun boolean,
    OUT p_schedule omd_dispatch.task_schedule
)
RETURNS omd_dispatch.task_schedule
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $lock_schedule$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    PERFORM omd.require_read_committed();
    SELECT s.* INTO p_schedule
    FROM omd_dispatch.task_schedule AS s
    WHERE s.schedule_code = p_schedule_code
    FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    ELSIF p_is_begun THEN
        -- Its time to be tried again keeps others from it until now.
        IF NOT p_schedule.is_firing OR p_schedule.next_time > v_now THEN
            p_schedule := NULL;
        END IF;
        RETURN;
    ELSIF NOT omd_dispatch._may_fire(p_schedule, v_now) THEN
        p_schedule := NULL;
        RETURN;
    END IF;
    IF p_schedule.failed_time IS DISTINCT FROM p_schedule.next_time THEN
        p_schedule.attempt := 0;
        p_schedule.failed_time := NULL;
    END IF;
    IF p_schedule.is_firing THEN
        p_schedule.attempt := p_schedule.attempt + 1;
        p_schedule.failed_time := p_schedule.next_time;
        p_schedule.problem := '57P01: the session that fired it has ended';
    END IF;
    p_schedule.is_firing := TRUE;
    IF p_schedule.source IS NOT NULL THEN
        UPDATE omd_dispatch.task_schedule AS s SET
            attempt = p_schedule.attempt,
            failed_time = s.next_time,
            retry_time = v_now + omd_dispatch._backoff(p_schedule.attempt + 1),
            is_firing = TRUE,
            last_fired_at = v_now,
            problem = p_schedule.problem
        WHERE s.schedule_code = p_schedule_code;
    END IF;
END
$lock_schedule$;

COMMENT ON FUNCTION omd_dispatch._lock_schedule IS
'Returns the schedule p_schedule_code if it is due and nobody else has it, else NULL; one with a '
'source is marked as being fired. p_is_begun: the caller has marked it, and has committed. Locks: '
'the schedule; a locked one is passed over.';
GRANT EXECUTE ON FUNCTION omd_dispatch._lock_schedule TO omd_runner, omd_admin;
