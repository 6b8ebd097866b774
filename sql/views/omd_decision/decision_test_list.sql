-- Whoever evaluates a model elsewhere reads its cases here.

CREATE OR REPLACE VIEW omd_report.decision_test_list AS
SELECT
    r.ruleset_code,
    v.version,
    t.test_name,
    t.input,
    t.expected,
    o.passed,
    o.actual,
    -- A function's error ends with its SQLSTATE, and one of Python begins with its type.
    omd.error_text(
        coalesce(
            substring(o.error FROM '\(([0-9A-Z]{5})\)$'),
            substring(o.error FROM '^([A-Za-z_]+): ')
        ),
        o.error
    ) AS error,
    o.tested_at
FROM omd_decision.ruleset AS r
INNER JOIN omd_decision.ruleset_version AS v ON r.ruleset_id = v.ruleset_id
INNER JOIN omd_decision.ruleset_test AS t ON r.ruleset_id = t.ruleset_id
LEFT JOIN omd_decision.ruleset_test_result AS o
    ON
        t.ruleset_id = o.ruleset_id
        AND t.test_name = o.test_name
        AND v.version = o.version;

COMMENT ON VIEW omd_report.decision_test_list IS
'The present test cases of all versions of rulesets, with their newest results.';
COMMENT ON COLUMN omd_report.decision_test_list.ruleset_code IS
'The ruleset.';
COMMENT ON COLUMN omd_report.decision_test_list.version IS
'Its version.';
COMMENT ON COLUMN omd_report.decision_test_list.test_name IS
'The test case.';
COMMENT ON COLUMN omd_report.decision_test_list.input IS
'What the ruleset is called with.';
COMMENT ON COLUMN omd_report.decision_test_list.expected IS
'What it has to answer.';
COMMENT ON COLUMN omd_report.decision_test_list.passed IS
'Whether the answer was the expected one; NULL: this version has not been tested with the case.';
COMMENT ON COLUMN omd_report.decision_test_list.actual IS
'The answer; NULL after an error.';
COMMENT ON COLUMN omd_report.decision_test_list.error IS
'The error; NULL when there was none.';
COMMENT ON COLUMN omd_report.decision_test_list.tested_at IS
'When; NULL: never.';
