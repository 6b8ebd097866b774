CREATE OR REPLACE VIEW omd_report.upgrade AS
SELECT
    s.version,
    s.step_code,
    s.phase,
    s.started_at,
    s.ended_at,
    s.rows_done,
    s.last_key,
    s.error
FROM omd.upgrade_step AS s;

COMMENT ON VIEW omd_report.upgrade IS
'The steps of the last upgrades: what is done, and what another session does at this moment.';
COMMENT ON COLUMN omd_report.upgrade.version IS 'The version of OMD that began the step.';
COMMENT ON COLUMN omd_report.upgrade.step_code IS 'The name of the migration, or install.';
COMMENT ON COLUMN omd_report.upgrade.phase IS
'expand, backfill, concurrent, install or contract: how the step runs.';
COMMENT ON COLUMN omd_report.upgrade.started_at IS 'When it was begun first.';
COMMENT ON COLUMN omd_report.upgrade.ended_at IS 'When it was done; NULL while it is not.';
COMMENT ON COLUMN omd_report.upgrade.rows_done IS
'How many rows a backfill has filled so far; 0 for other phases.';
COMMENT ON COLUMN omd_report.upgrade.last_key IS
'The highest key that a backfill has looked at; NULL where it keeps none.';
COMMENT ON COLUMN omd_report.upgrade.error IS
'Why it has not ended: its error, or the processes for which it waits; NULL if nothing is wrong.';
