-- How many Modules are in each state; one may be looked up in omd_report.work.

CREATE OR REPLACE VIEW omd_report.work_summary AS
SELECT
    w.state,
    w.reason,
    w.module_kind_code,
    count(*) AS modules,
    min(w.since) AS oldest_since,
    min(w.code) AS first_code
FROM omd_report.work_states AS w
GROUP BY w.state, w.reason, w.module_kind_code;

COMMENT ON VIEW omd_report.work_summary IS
'For rooms: How many Modules are in each state of work, by kind.';
COMMENT ON COLUMN omd_report.work_summary.state IS 'The state, as in omd_report.work.';
COMMENT ON COLUMN omd_report.work_summary.reason IS 'Why; NULL: they are idle.';
COMMENT ON COLUMN omd_report.work_summary.module_kind_code IS 'Their kind.';
COMMENT ON COLUMN omd_report.work_summary.modules IS 'How many they are.';
COMMENT ON COLUMN omd_report.work_summary.oldest_since IS
'Since when the first of them has been so; NULL when that is not known.';
COMMENT ON COLUMN omd_report.work_summary.first_code IS 'The first of them by its code.';
