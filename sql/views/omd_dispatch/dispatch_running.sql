-- It reads the index of claimed tasks only.

CREATE OR REPLACE VIEW omd_report.dispatch_running AS
SELECT
    c.task_id,
    c.family_code,
    c.task_type,
    c.criteria,
    c.lane,
    c.attempt,
    c.claimed_by,
    c.claimed_at,
    statement_timestamp() - c.claimed_at AS running_for,
    c.cancel_requested
FROM omd_dispatch._tasks_of_status('CLAIMED') AS c;

COMMENT ON VIEW omd_report.dispatch_running IS 'Every task that a worker has claimed.';
COMMENT ON COLUMN omd_report.dispatch_running.task_id IS
'The task.';
COMMENT ON COLUMN omd_report.dispatch_running.family_code IS
'Its family.';
COMMENT ON COLUMN omd_report.dispatch_running.task_type IS
'Its type.';
COMMENT ON COLUMN omd_report.dispatch_running.criteria IS
'Its criteria.';
COMMENT ON COLUMN omd_report.dispatch_running.lane IS
'The lane in which it was claimed.';
COMMENT ON COLUMN omd_report.dispatch_running.attempt IS
'The number of this attempt.';
COMMENT ON COLUMN omd_report.dispatch_running.claimed_by IS
'The worker.';
COMMENT ON COLUMN omd_report.dispatch_running.claimed_at IS
'Since when the worker has it.';
COMMENT ON COLUMN omd_report.dispatch_running.running_for IS
'How long the worker has had it.';
COMMENT ON COLUMN omd_report.dispatch_running.cancel_requested IS
'The worker is asked to end it.';
