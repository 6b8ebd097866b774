-- A run that is rolled back is forgotten, and is not here, nor is one that a recall took back.

CREATE OR REPLACE VIEW omd_report.decision_run_log AS
SELECT
    r.module_instance_id,
    s.stage_code,
    r.stage_id,
    r.stage_version,
    u.ruleset_code,
    r.ruleset_id,
    r.ruleset_version,
    r.content_hash,
    r.engine,
    r.batch_size,
    r.effective_at,
    r.begun_at,
    mi.end_datetime,
    mi.execution_status_code,
    r.waves,
    r.attempts,
    r.cycles,
    r.invocations,
    mi.rows_input,
    mi.rows_inserted,
    mi.rows_rejected,
    r.supersedes
FROM omd_decision.run AS r
INNER JOIN omd_decision.stage AS s ON r.stage_id = s.stage_id
INNER JOIN omd_decision.ruleset AS u ON r.ruleset_id = u.ruleset_id
LEFT JOIN omd.module_instance AS mi ON r.module_instance_id = mi.module_instance_id
WHERE r.recall_id IS NULL;

COMMENT ON VIEW omd_report.decision_run_log IS
'All runs of stages.';
COMMENT ON COLUMN omd_report.decision_run_log.module_instance_id IS
'The Module Instance.';
COMMENT ON COLUMN omd_report.decision_run_log.stage_code IS
'The stage.';
COMMENT ON COLUMN omd_report.decision_run_log.stage_id IS
'Its surrogate key.';
COMMENT ON COLUMN omd_report.decision_run_log.stage_version IS
'The version of the stage that it runs.';
COMMENT ON COLUMN omd_report.decision_run_log.ruleset_code IS
'The ruleset.';
COMMENT ON COLUMN omd_report.decision_run_log.ruleset_id IS
'Its surrogate key.';
COMMENT ON COLUMN omd_report.decision_run_log.ruleset_version IS
'The version of the ruleset that it calls.';
COMMENT ON COLUMN omd_report.decision_run_log.content_hash IS
'The hash of that version.';
COMMENT ON COLUMN omd_report.decision_run_log.engine IS
'POSTGRES or SPARK.';
COMMENT ON COLUMN omd_report.decision_run_log.batch_size IS
'The batch size that is used; 0: unlimited.';
COMMENT ON COLUMN omd_report.decision_run_log.effective_at IS
'The moment for which the version of the ruleset was chosen.';
COMMENT ON COLUMN omd_report.decision_run_log.begun_at IS
'When it began.';
COMMENT ON COLUMN omd_report.decision_run_log.end_datetime IS
'When it ended; NULL: it executes, or the instance is purged.';
COMMENT ON COLUMN omd_report.decision_run_log.execution_status_code IS
'E, S or F; NULL: the instance is purged.';
COMMENT ON COLUMN omd_report.decision_run_log.waves IS
'How many waves it had; NULL: it has not succeeded.';
COMMENT ON COLUMN omd_report.decision_run_log.attempts IS
'How many attempts, rejected ones too; NULL: it has not succeeded.';
COMMENT ON COLUMN omd_report.decision_run_log.cycles IS
'How many attempts succeeded; NULL: it has not succeeded.';
COMMENT ON COLUMN omd_report.decision_run_log.invocations IS
'How often the ruleset was called; NULL: it has not succeeded.';
COMMENT ON COLUMN omd_report.decision_run_log.rows_input IS
'How many records were read; NULL: the instance is purged.';
COMMENT ON COLUMN omd_report.decision_run_log.rows_inserted IS
'How many output records were written; NULL: the instance is purged.';
COMMENT ON COLUMN omd_report.decision_run_log.rows_rejected IS
'How many records were rejected; NULL: the instance is purged.';
COMMENT ON COLUMN omd_report.decision_run_log.supersedes IS
'The runs whose windows it took again after a recall; NULL: it took a new one.';
