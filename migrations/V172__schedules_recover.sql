-- phase: expand
-- V172: the first occurrence that a schedule loses is an event, and so is the end of it. Applied
-- once. A new database gets the trigger with its function.

DO $do$
BEGIN
    IF to_regproc('omd_event._hear_schedule') IS NOT NULL THEN
        CREATE OR REPLACE TRIGGER trg_task_schedule_event
        AFTER UPDATE OF problem, lost_count, lost_in_row ON omd_dispatch.task_schedule
        FOR EACH ROW
        WHEN (
            new.lost_count > old.lost_count AND old.lost_in_row IS NULL
            OR old.lost_in_row IS NOT NULL AND new.lost_in_row IS NULL
            OR new.problem IS NOT NULL AND left(new.problem, 6) IS DISTINCT FROM left(old.problem, 6)
        )
        EXECUTE FUNCTION omd_event._hear_schedule();
    END IF;
END
$do$;
