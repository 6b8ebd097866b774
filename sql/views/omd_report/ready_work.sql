-- It is read by every worker, again and again: the cost grows with the Modules and with what is
-- open, not with history.

CREATE OR REPLACE VIEW omd_report.ready_work AS
SELECT
    w.module_kind_code,
    w.code,
    w.engine_code,
    w.reason,
    w.since,
    w.not_before,
    w.detail
FROM omd_report.work_states AS w
WHERE w.state = 'READY';

COMMENT ON VIEW omd_report.ready_work IS 'What could run now.';
COMMENT ON COLUMN omd_report.ready_work.module_kind_code IS 'The kind: what one run of it is.';
COMMENT ON COLUMN omd_report.ready_work.code IS 'The Module.';
COMMENT ON COLUMN omd_report.ready_work.engine_code IS
'Who performs a run: POSTGRES (the database) or SPARK (a worker process).';
COMMENT ON COLUMN omd_report.ready_work.reason IS 'Why it is ready.';
COMMENT ON COLUMN omd_report.ready_work.since IS 'Since when; NULL when that is not known.';
COMMENT ON COLUMN omd_report.ready_work.not_before IS
'When its last pause ended; NULL: it had none.';
COMMENT ON COLUMN omd_report.ready_work.detail IS
'What a run would take; NULL when there is nothing to name.';
