-- It is reported only where something was lost: a firing that was tried again in time is no news.

CREATE OR REPLACE FUNCTION omd_dispatch._note_recovery(
    p_schedule_code text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_recovery$
DECLARE
    v_lost bigint;
BEGIN
    SELECT s.lost_in_row INTO v_lost
    FROM omd_dispatch.task_schedule AS s
    WHERE s.schedule_code = p_schedule_code
    FOR NO KEY UPDATE;
    IF v_lost IS NULL THEN
        RETURN;
    END IF;
    UPDATE omd_dispatch.task_schedule AS s SET lost_in_row = NULL, problem = NULL
    WHERE s.schedule_code = p_schedule_code;
    PERFORM omd.write_event(
        0, 0, 4, 'RECOVERED',
        format('schedule %s: it fires again, after %s occurrences were lost', p_schedule_code, v_lost)
    );
END
$note_recovery$;

COMMENT ON FUNCTION omd_dispatch._note_recovery IS
'Ends the count of the occurrences that the schedule p_schedule_code has lost in a row, if there '
'are any, and writes an event. Locks: the schedule.';
GRANT EXECUTE ON FUNCTION omd_dispatch._note_recovery TO omd_runner, omd_admin;
