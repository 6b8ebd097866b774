-- The rules stand in omd_report.work_states.

CREATE OR REPLACE VIEW omd_report.work AS
SELECT
    w.module_kind_code,
    w.code,
    w.engine_code,
    w.state,
    w.reason,
    w.waits_for,
    w.since,
    w.not_before,
    w.failures,
    w.last_problem,
    w.module_instance_id,
    w.task_id,
    CASE
        WHEN w.engine_code IS NULL THEN omd.last_context(w.module_id) ->> 'platform'
    END AS last_platform
FROM omd_report.work_states AS w;

COMMENT ON VIEW omd_report.work IS
'Everything that runs: what each Module does, what it could do, and what it waits for.';
COMMENT ON COLUMN omd_report.work.module_kind_code IS 'The kind: what one run of it is.';
COMMENT ON COLUMN omd_report.work.code IS 'The Module.';
COMMENT ON COLUMN omd_report.work.engine_code IS
'Who performs a run: POSTGRES (the database) or SPARK (a worker process); NULL: a program outside, '
'of a JOB without a job.';
COMMENT ON COLUMN omd_report.work.state IS
'RUNNING, FAILED, BACK_OFF, PAUSED, READY, WAITING or IDLE.';
COMMENT ON COLUMN omd_report.work.reason IS
'Why: RUNNING, or HELD of a topic; of FAILED WAITS_FOR_A_PERSON (no worker runs it by itself), '
'BACK_OFF (workers try again when its pause is over) or GIVEN_UP (it waits for omd.retry); '
'BACK_OFF, when there was nothing to do; INACTIVE or SUSPENDED; why it is ready, or what it waits '
'for; NULL: it is idle.';
COMMENT ON COLUMN omd_report.work.waits_for IS
'What it waits for; NULL: it does not wait, or for nothing that has a name.';
COMMENT ON COLUMN omd_report.work.since IS
'When this state began, by the row that made it so; NULL when that is not known.';
COMMENT ON COLUMN omd_report.work.not_before IS 'When its pause ends; NULL: it has none.';
COMMENT ON COLUMN omd_report.work.failures IS 'How often it has failed since its last success.';
COMMENT ON COLUMN omd_report.work.last_problem IS
'The last failure since then, as omd.failure_text shows it to the caller; NULL: none was.';
COMMENT ON COLUMN omd_report.work.module_instance_id IS
'The run that executes (of a DELIVERY its Batch Instance), else the one that failed last; NULL: '
'there is none.';
COMMENT ON COLUMN omd_report.work.task_id IS 'Its live task; NULL: there is none.';
COMMENT ON COLUMN omd_report.work.last_platform IS
'Where a program outside began the newest run of a Module that has no engine, as the run says; '
'NULL: it has an engine, has never run, or its run does not say so.';
