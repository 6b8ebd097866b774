-- It is the table as people read it.

CREATE OR REPLACE VIEW omd_report.dispatch_schedules AS
SELECT
    s.schedule_code,
    s.family_code,
    s.task_type,
    s.criteria,
    s.cron,
    s.every,
    s.time_zone,
    s.missed,
    s.source,
    s.inactive_indicator,
    s.next_time,
    s.last_fired_at,
    s.created_count,
    s.skipped_count,
    omd_dispatch._shown_problem(s.problem) AS problem,
    CASE WHEN s.failed_time = s.next_time THEN s.attempt ELSE 0 END AS attempt,
    CASE WHEN s.failed_time = s.next_time THEN s.retry_time END AS retry_time,
    s.lost_count
FROM omd_dispatch.task_schedule AS s;

COMMENT ON VIEW omd_report.dispatch_schedules IS 'Every schedule, and what became of it.';
COMMENT ON COLUMN omd_report.dispatch_schedules.schedule_code IS
'The schedule.';
COMMENT ON COLUMN omd_report.dispatch_schedules.family_code IS
'The family of its tasks.';
COMMENT ON COLUMN omd_report.dispatch_schedules.task_type IS
'The type of its tasks.';
COMMENT ON COLUMN omd_report.dispatch_schedules.criteria IS
'The criteria of its tasks.';
COMMENT ON COLUMN omd_report.dispatch_schedules.cron IS
'Minute hour day month weekday; NULL when every is given.';
COMMENT ON COLUMN omd_report.dispatch_schedules.every IS
'The time between two occurrences; NULL when cron is given.';
COMMENT ON COLUMN omd_report.dispatch_schedules.time_zone IS
'The time zone of cron.';
COMMENT ON COLUMN omd_report.dispatch_schedules.missed IS
'What becomes of occurrences older than a minute: ONCE, ALL or SKIP.';
COMMENT ON COLUMN omd_report.dispatch_schedules.source IS
'The view that gives a task per row; NULL: one task.';
COMMENT ON COLUMN omd_report.dispatch_schedules.inactive_indicator IS
'Y: it creates no tasks.';
COMMENT ON COLUMN omd_report.dispatch_schedules.next_time IS
'Its next occurrence.';
COMMENT ON COLUMN omd_report.dispatch_schedules.last_fired_at IS
'When it fired last; NULL: never.';
COMMENT ON COLUMN omd_report.dispatch_schedules.created_count IS
'How many tasks it has created.';
COMMENT ON COLUMN omd_report.dispatch_schedules.skipped_count IS
'How many it has not created, since one with their key was live.';
COMMENT ON COLUMN omd_report.dispatch_schedules.problem IS
'The error of its last firing; NULL when there was none.';
COMMENT ON COLUMN omd_report.dispatch_schedules.attempt IS
'How often the occurrence next_time has failed.';
COMMENT ON COLUMN omd_report.dispatch_schedules.retry_time IS
'When it is tried again; NULL: it has not failed, or is tried in the next round.';
COMMENT ON COLUMN omd_report.dispatch_schedules.lost_count IS
'How many occurrences it has given up after failures, since the next one was due.';
