-- A version has passed when the newest result of every present test case says so.

CREATE OR REPLACE VIEW omd_report.decision_ruleset_list AS
SELECT
    r.ruleset_id,
    r.ruleset_code,
    r.kind,
    v.version,
    v.content,
    v.content_hash,
    v.state,
    v.effective_from,
    v.effective_to,
    v.defined_at,
    v.defined_by,
    t.tests,
    t.passed
FROM omd_decision.ruleset AS r
INNER JOIN omd_decision.ruleset_version AS v ON r.ruleset_id = v.ruleset_id
CROSS JOIN LATERAL (
    SELECT
        count(*) AS tests,
        count(*) FILTER (WHERE o.passed) AS passed
    FROM omd_decision.ruleset_test AS c
    LEFT JOIN omd_decision.ruleset_test_result AS o
        ON
            c.ruleset_id = o.ruleset_id
            AND c.test_name = o.test_name
            AND v.version = o.version
    WHERE c.ruleset_id = r.ruleset_id
) AS t;

COMMENT ON VIEW omd_report.decision_ruleset_list IS
'All versions of rulesets, and how their tests stand.';
COMMENT ON COLUMN omd_report.decision_ruleset_list.ruleset_id IS
'Surrogate key.';
COMMENT ON COLUMN omd_report.decision_ruleset_list.ruleset_code IS
'The ruleset.';
COMMENT ON COLUMN omd_report.decision_ruleset_list.kind IS
'FUNCTION, JDM or PYTHON.';
COMMENT ON COLUMN omd_report.decision_ruleset_list.version IS
'Its version, from 1.';
COMMENT ON COLUMN omd_report.decision_ruleset_list.content IS
'The name of the function as a JSON text, or the model.';
COMMENT ON COLUMN omd_report.decision_ruleset_list.content_hash IS
'SHA-256 of the content in hex; of a FUNCTION that of its definition.';
COMMENT ON COLUMN omd_report.decision_ruleset_list.state IS
'DRAFT, ACTIVE or INACTIVE.';
COMMENT ON COLUMN omd_report.decision_ruleset_list.effective_from IS
'From when on runs may take it; NULL: it has never been active.';
COMMENT ON COLUMN omd_report.decision_ruleset_list.effective_to IS
'Until when (exclusive); NULL: for ever.';
COMMENT ON COLUMN omd_report.decision_ruleset_list.defined_at IS
'When it was defined.';
COMMENT ON COLUMN omd_report.decision_ruleset_list.defined_by IS
'By whom.';
COMMENT ON COLUMN omd_report.decision_ruleset_list.tests IS
'The number of present test cases.';
COMMENT ON COLUMN omd_report.decision_ruleset_list.passed IS
'How many of them it has passed.';
