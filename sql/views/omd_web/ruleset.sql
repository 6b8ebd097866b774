-- omd_report.decision_ruleset_list has a row per version; a person acts on a ruleset, and names the
-- version.

CREATE OR REPLACE VIEW omd_web.ruleset AS
SELECT
    r.ruleset_code,
    r.kind,
    (
        SELECT
            jsonb_agg(
                jsonb_build_object(
                    'version', v.version,
                    'state', v.state,
                    'effective_from', v.effective_from,
                    'effective_to', v.effective_to
                )
                ORDER BY v.version
            )
        FROM omd_decision.ruleset_version AS v
        WHERE v.ruleset_id = r.ruleset_id
    ) AS versions
FROM omd_decision.ruleset AS r;

COMMENT ON VIEW omd_web.ruleset IS 'For rooms: Each ruleset, with the state of its versions.';
COMMENT ON COLUMN omd_web.ruleset.ruleset_code IS 'The ruleset.';
COMMENT ON COLUMN omd_web.ruleset.kind IS 'FUNCTION, JDM or PYTHON.';
COMMENT ON COLUMN omd_web.ruleset.versions IS
'Of each version its number, its state (DRAFT, ACTIVE, INACTIVE), and from when until when (NULL: '
'for ever) runs may take it; NULL: there is none.';
