-- Whether a case has passed is decided here, whoever has evaluated it.

CREATE OR REPLACE PROCEDURE omd_decision.record_test_result(
    p_ruleset_code text,
    p_version integer,
    p_test_name text,
    p_actual jsonb DEFAULT NULL,
    p_error text DEFAULT NULL,
    INOUT p_passed boolean DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $record_test_result$
DECLARE
    v_version omd_decision.ruleset_version
        := omd_decision._require_version(p_ruleset_code, p_version);
    v_expected jsonb;
BEGIN
    p_version := omd.require_argument('p_version', p_version);
    p_test_name := omd.require_argument('p_test_name', p_test_name);
    SELECT t.expected INTO v_expected
    FROM omd_decision.ruleset_test AS t
    WHERE t.ruleset_id = v_version.ruleset_id AND t.test_name = p_test_name
    FOR KEY SHARE;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_test_name', 'value', p_test_name,
                'expected', 'a test case of the ruleset'
            )
        );
    END IF;
    p_passed := coalesce(p_error IS NULL AND p_actual = v_expected, FALSE);
    PERFORM omd_decision._save_result(v_version, p_test_name, p_passed, p_actual, p_error);
END
$record_test_result$;

COMMENT ON PROCEDURE omd_decision.record_test_result IS
'For the driver: '
'Records that the version p_version of the ruleset p_ruleset_code has answered p_actual to the '
'test case p_test_name, or has raised p_error. Returns p_passed: there was no error, and the '
'answer is the expected one. Errors: OM005: p_ruleset_code, p_version or p_test_name is NULL; '
'OM013: there is no such test case; OM081: there is no such ruleset or version. Locks: the test '
'case. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_decision.record_test_result TO omd_admin;
