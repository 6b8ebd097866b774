-- The view that says why tells it of the source too; a stage that reads several is one problem.

CREATE OR REPLACE VIEW omd_decision.problem_list AS
SELECT
    'WINDOW_UNSAFE' AS problem_code,
    'WARNING' AS severity,
    'decision' AS room,
    'STAGE' AS object_kind,
    w.stage_code AS object_key,
    'stage ' || w.stage_code AS subject,
    min(w.since) AS since,
    string_agg(w.problem, ' ' ORDER BY w.table_code) AS text,
    min(w.way_out) AS way_out
FROM omd_decision.unsafe_windows AS w
GROUP BY w.stage_code;

COMMENT ON VIEW omd_decision.problem_list IS
'For rooms: the stages that somebody should look at, as omd_report.problems shows them.';
COMMENT ON COLUMN omd_decision.problem_list.problem_code IS
'WINDOW_UNSAFE: its window passes rows over.';
COMMENT ON COLUMN omd_decision.problem_list.severity IS 'WARNING.';
COMMENT ON COLUMN omd_decision.problem_list.room IS 'The room that says so.';
COMMENT ON COLUMN omd_decision.problem_list.object_kind IS 'STAGE.';
COMMENT ON COLUMN omd_decision.problem_list.object_key IS 'The stage.';
COMMENT ON COLUMN omd_decision.problem_list.subject IS 'What it is about, in words.';
COMMENT ON COLUMN omd_decision.problem_list.since IS 'Since when it is defined so.';
COMMENT ON COLUMN omd_decision.problem_list.text IS 'What is wrong.';
COMMENT ON COLUMN omd_decision.problem_list.way_out IS 'What mends it.';
