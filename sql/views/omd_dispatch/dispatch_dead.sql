-- It reads the index of dead tasks only.

CREATE OR REPLACE VIEW omd_report.dispatch_dead AS
SELECT
    d.task_id,
    d.family_code,
    d.task_type,
    d.criteria,
    d.attempt,
    d.finished_at,
    d.error,
    d.batch_instance_id,
    d.module_instance_id
FROM omd_dispatch._tasks_of_status('DEAD') AS d;

COMMENT ON VIEW omd_report.dispatch_dead IS
'Every dead task: its attempts are used up. CALL omd_dispatch.revive_task tries it again.';
COMMENT ON COLUMN omd_report.dispatch_dead.task_id IS
'The task.';
COMMENT ON COLUMN omd_report.dispatch_dead.family_code IS
'Its family.';
COMMENT ON COLUMN omd_report.dispatch_dead.task_type IS
'Its type.';
COMMENT ON COLUMN omd_report.dispatch_dead.criteria IS
'Its criteria.';
COMMENT ON COLUMN omd_report.dispatch_dead.attempt IS
'How often it was tried.';
COMMENT ON COLUMN omd_report.dispatch_dead.finished_at IS
'When it died.';
COMMENT ON COLUMN omd_report.dispatch_dead.error IS
'The error of its last attempt; NULL when none was reported.';
COMMENT ON COLUMN omd_report.dispatch_dead.batch_instance_id IS
'The Batch Instance of its last attempt; NULL when there is none.';
COMMENT ON COLUMN omd_report.dispatch_dead.module_instance_id IS
'The Module Instance of its last attempt; NULL when there is none.';
