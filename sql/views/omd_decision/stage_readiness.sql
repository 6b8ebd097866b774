-- A stage that is asked again and again pauses after a failure as every Module does. Who calls
-- run_stage himself is not stopped, and a run that succeeds ends the pause. Another version may be
-- the mend, so define_stage ends it too.

CREATE OR REPLACE VIEW omd_report.stage_readiness AS
SELECT
    s.stage_code,
    m.module_code,
    CASE
        WHEN m.inactive_indicator = 'Y' THEN 'INACTIVE'
        ELSE coalesce(p.state, 'DUE')
    END AS reason,
    coalesce(p.failures, 0) AS failures,
    CASE WHEN p.failures > 0 THEN p.not_before END AS not_before
FROM omd_decision.stage AS s
INNER JOIN omd.module_target AS m ON s.module_id = m.module_id
LEFT JOIN omd.module_pause AS p ON s.module_id = p.module_id;

COMMENT ON VIEW omd_report.stage_readiness IS
'For rooms: '
'Every stage: whether a poll should run it now, and after how many failures it pauses. See '
'docs/explanation/decision.md.';
COMMENT ON COLUMN omd_report.stage_readiness.stage_code IS 'The stage.';
COMMENT ON COLUMN omd_report.stage_readiness.module_code IS 'Its Module.';
COMMENT ON COLUMN omd_report.stage_readiness.reason IS
'DUE: it may run. BACK_OFF: it has failed, and pauses up to not_before. FAILED: it has failed too '
'often in a row, and waits for omd.retry, until a run by hand succeeds or it is defined anew. '
'INACTIVE: its Module is.';
COMMENT ON COLUMN omd_report.stage_readiness.failures IS
'How many runs have failed since the last that succeeded, or since it was defined.';
COMMENT ON COLUMN omd_report.stage_readiness.not_before IS
'When its pause ends; NULL: it has not failed.';
