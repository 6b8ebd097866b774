-- A stage that is asked again and again pauses after a failure as a topic does (L5): twice as long
-- each time, an hour at most, and after ten failures in a row until somebody has mended it. Who
-- calls run_stage himself is not stopped, and a run that succeeds ends the pause. Another version
-- may be the mend, so it is tried.

CREATE OR REPLACE VIEW omd_report.stage_readiness AS
SELECT
    s.stage_code,
    s.module_code,
    CASE
        WHEN s.is_inactive THEN 'INACTIVE'
        WHEN s.failures >= 10 THEN 'FAILED'
        WHEN s.not_before > now() THEN 'BACK_OFF'
        ELSE 'DUE'
    END AS reason,
    s.failures,
    s.not_before
FROM (
    SELECT
        s.stage_code,
        m.module_code,
        m.inactive_indicator = 'Y' AS is_inactive,
        f.failures,
        f.last_failure + least(
            interval '1 second' * 2 ^ (least(f.failures, 20) - 1), interval '1 hour'
        ) AS not_before
    FROM omd_decision.stage AS s
    INNER JOIN omd_decision.stage_version AS v
        ON s.stage_id = v.stage_id AND s.version = v.version
    INNER JOIN omd.module_target AS m ON s.module_id = m.module_id
    CROSS JOIN LATERAL (
        SELECT
            CASE
                WHEN r.p_last_failure > v.defined_at THEN r.p_failures ELSE 0::bigint
            END AS failures,
            CASE WHEN r.p_last_failure > v.defined_at THEN r.p_last_failure END AS last_failure
        FROM omd.failures_in_a_row(s.module_id) AS r
    ) AS f
) AS s;

COMMENT ON VIEW omd_report.stage_readiness IS
'Every stage: whether a poll should run it now, and after how many failures it pauses. See '
'docs/explanation/decision.md.';
COMMENT ON COLUMN omd_report.stage_readiness.stage_code IS 'The stage.';
COMMENT ON COLUMN omd_report.stage_readiness.module_code IS 'Its Module.';
COMMENT ON COLUMN omd_report.stage_readiness.reason IS
'DUE: it may run. BACK_OFF: it has failed, and pauses up to not_before. FAILED: it has failed ten '
'times in a row, and waits until a run by hand succeeds or it is defined anew. INACTIVE: its '
'Module is.';
COMMENT ON COLUMN omd_report.stage_readiness.failures IS
'How many runs have failed since the last that succeeded, or since it was defined.';
COMMENT ON COLUMN omd_report.stage_readiness.not_before IS
'When its pause ends; NULL: it has not failed.';
