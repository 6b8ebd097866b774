-- It reads the partial indexes of live and dead tasks, and no finished ones.

CREATE OR REPLACE VIEW omd_report.dispatch_queue AS
SELECT
    q.family_code,
    q.task_type,
    q.lane,
    q.due,
    q.later,
    q.suspended,
    q.claimed,
    q.dead,
    q.oldest_due
FROM omd_dispatch._queue() AS q;

COMMENT ON VIEW omd_report.dispatch_queue IS 'How many tasks wait, run and are dead, by lane.';
COMMENT ON COLUMN omd_report.dispatch_queue.family_code IS
'The family.';
COMMENT ON COLUMN omd_report.dispatch_queue.task_type IS
'The type.';
COMMENT ON COLUMN omd_report.dispatch_queue.lane IS
'The lane.';
COMMENT ON COLUMN omd_report.dispatch_queue.due IS
'How many tasks are due.';
COMMENT ON COLUMN omd_report.dispatch_queue.later IS
'How many are due later.';
COMMENT ON COLUMN omd_report.dispatch_queue.suspended IS
'How many a suspension holds.';
COMMENT ON COLUMN omd_report.dispatch_queue.claimed IS
'How many workers have.';
COMMENT ON COLUMN omd_report.dispatch_queue.dead IS
'How many are dead.';
COMMENT ON COLUMN omd_report.dispatch_queue.oldest_due IS
'Since when the oldest due one is due; NULL when none is.';
