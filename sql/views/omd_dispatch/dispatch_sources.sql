-- It is the table as people read it.

CREATE OR REPLACE VIEW omd_report.dispatch_sources AS
SELECT
    s.family_code,
    s.task_type,
    s.source,
    s.every,
    s.listen,
    s.inactive_indicator,
    s.last_fired_at,
    s.took,
    s.created_count,
    omd_dispatch._shown_problem(s.problem) AS problem,
    CASE WHEN s.is_firing THEN s.attempt - 1 ELSE s.attempt END AS attempt,
    CASE WHEN NOT s.is_firing THEN s.retry_time END AS retry_time
FROM omd_dispatch.task_source AS s;

COMMENT ON VIEW omd_report.dispatch_sources IS
'The views whose rows become tasks, and what became of them.';
COMMENT ON COLUMN omd_report.dispatch_sources.family_code IS
'The family of its tasks.';
COMMENT ON COLUMN omd_report.dispatch_sources.task_type IS
'The type of its tasks.';
COMMENT ON COLUMN omd_report.dispatch_sources.source IS
'The view; a row of it is a task.';
COMMENT ON COLUMN omd_report.dispatch_sources.every IS
'How often it is read when nothing has happened.';
COMMENT ON COLUMN omd_report.dispatch_sources.listen IS
'Channels; a notification on one of them has it read at once.';
COMMENT ON COLUMN omd_report.dispatch_sources.inactive_indicator IS
'Y: it creates no tasks.';
COMMENT ON COLUMN omd_report.dispatch_sources.last_fired_at IS
'When it was read last; NULL: never.';
COMMENT ON COLUMN omd_report.dispatch_sources.took IS
'How long that took; NULL: it was not read to its end.';
COMMENT ON COLUMN omd_report.dispatch_sources.created_count IS
'How many tasks it has created.';
COMMENT ON COLUMN omd_report.dispatch_sources.problem IS
'The error of its last firing; NULL when there was none.';
COMMENT ON COLUMN omd_report.dispatch_sources.attempt IS
'How often in a row it has failed.';
COMMENT ON COLUMN omd_report.dispatch_sources.retry_time IS
'When it is tried again after a failure; NULL: it has not failed.';
