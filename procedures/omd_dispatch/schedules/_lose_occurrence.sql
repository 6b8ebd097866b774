-- What is lost is reported: it leaves no task that somebody could look for. While a source fails
-- that is reported once, and again when it is over (_note_recovery). The event has the code of the
-- error alone, since its words may hold values of rows.

CREATE OR REPLACE FUNCTION omd_dispatch._lose_occurrence(
    p_schedule_code text,
    p_at timestamptz,
    p_attempts integer,
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
AS $lose_occurrence$
DECLARE
    v_lost bigint;
BEGIN
    DELETE FROM omd_dispatch.task_schedule_rest AS r WHERE r.schedule_code = p_schedule_code;
    IF p_attempts = 0 THEN
        RETURN;
    END IF;
    UPDATE omd_dispatch.task_schedule AS s SET
        lost_count = s.lost_count + 1,
        lost_in_row = coalesce(s.lost_in_row, 0) + 1,
        last_fired_at = clock_timestamp()
    WHERE s.schedule_code = p_schedule_code
    RETURNING s.lost_in_row INTO v_lost;
    IF v_lost > 1 THEN
        RETURN;
    END IF;
    PERFORM omd.write_event(
        0, 0, 6, 'OCCURRENCE LOST',
        format(
            'schedule %s: the occurrence of %s is given up after %s attempts, the next one is due: '
            'the last error was %s',
            p_schedule_code, p_at, p_attempts, split_part(coalesce(p_problem, 'unknown'), ':', 1)
        )
    );
END
$lose_occurrence$;

COMMENT ON FUNCTION omd_dispatch._lose_occurrence IS
'Gives up the occurrence p_at of the schedule p_schedule_code, which has failed p_attempts times, '
'the last time with p_problem: it is counted, and an event tells the first of several. With 0 '
'attempts only what was left of it goes. Locks: the schedule.';
GRANT EXECUTE ON FUNCTION omd_dispatch._lose_occurrence TO omd_runner, omd_admin;
