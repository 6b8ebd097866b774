-- A function is tested here and now; the others were tested by who can evaluate them.

CREATE OR REPLACE PROCEDURE omd_decision.activate_ruleset(
    p_ruleset_code text,
    p_version integer,
    p_effective_from timestamptz DEFAULT now(),
    p_effective_to timestamptz DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $activate_ruleset$
DECLARE
    v_version omd_decision.ruleset_version
        := omd_decision._require_version(p_ruleset_code, p_version);
BEGIN
    p_version := omd.require_argument('p_version', p_version);
    IF EXISTS (
        SELECT FROM omd_decision.ruleset AS r
        WHERE r.ruleset_id = v_version.ruleset_id AND r.kind = 'FUNCTION'
    ) THEN
        PERFORM
            omd_decision._save_result(v_version, t.test_name, t.passed, t.actual, t.error)
        FROM omd_decision.test_ruleset(p_ruleset_code, p_version) AS t;
    END IF;
    PERFORM omd_decision._activate(p_ruleset_code, v_version, p_effective_from, p_effective_to);
END
$activate_ruleset$;

COMMENT ON PROCEDURE omd_decision.activate_ruleset IS
'Makes the version p_version of the ruleset p_ruleset_code ACTIVE. p_effective_from: from when on '
'runs take it; NULL: now. p_effective_to: until when (exclusive); NULL: for ever. Of several, a '
'run takes the one with the latest p_effective_from, then the highest version. It must have passed'
' every present test case; a FUNCTION is called with them now, with the rights of the caller. '
'Errors: OM005: p_ruleset_code or p_version is NULL; OM013: the end is not after the start; OM081:'
' there is no such ruleset or version; OM180: its DETAIL names the test cases that it has not '
'passed; OM287: the function has changed since it was defined. Locks: the ruleset. Call again when'
' the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_decision.activate_ruleset TO omd_admin;
