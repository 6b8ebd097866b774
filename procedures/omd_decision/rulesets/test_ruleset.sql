-- It runs with the rights of the caller. An error is a result too, so each case is a block of
-- its own.

CREATE OR REPLACE FUNCTION omd_decision.test_ruleset(
    p_ruleset_code text,
    p_version integer DEFAULT NULL
)
RETURNS TABLE (
    test_name text,
    passed boolean,
    expected jsonb,
    actual jsonb,
    error text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $test_ruleset$
DECLARE
    v_version omd_decision.ruleset_version
        := omd_decision._require_version(p_ruleset_code, p_version);
    v_kind text;
    v_call text;
    v_test record;
BEGIN
    SELECT r.kind INTO v_kind
    FROM omd_decision.ruleset AS r
    WHERE r.ruleset_id = v_version.ruleset_id;
    IF v_kind <> 'FUNCTION' THEN
        PERFORM omd.raise_error(
            'OM288',
            jsonb_build_object(
                'ruleset_code', p_ruleset_code, 'kind', v_kind, 'engine', 'POSTGRES'
            )
        );
    END IF;
    PERFORM omd_decision._require_unchanged(p_ruleset_code, v_version);
    v_call := format('SELECT %s($1)', omd.quote_table(v_version.content #>> '{}', 'POSTGRES'));
    FOR v_test IN
        SELECT t.test_name, t.input, t.expected
        FROM omd_decision.ruleset_test AS t
        WHERE t.ruleset_id = v_version.ruleset_id
        ORDER BY t.test_name
    LOOP
        test_name := v_test.test_name;
        expected := v_test.expected;
        actual := NULL;
        error := NULL;
        BEGIN
            EXECUTE v_call INTO actual USING v_test.input;
        EXCEPTION
            WHEN assert_failure OR OTHERS THEN
                error := format('%s (%s)', SQLERRM, SQLSTATE);
        END;
        passed := coalesce(actual = expected, FALSE);
        RETURN NEXT;
    END LOOP;
END
$test_ruleset$;

COMMENT ON FUNCTION omd_decision.test_ruleset IS
'Calls the version p_version (NULL: the newest) of the ruleset p_ruleset_code, a FUNCTION, with '
'every present test case. passed: actual is equal to expected. error: what the function raised. '
'It records nothing. Errors: OM005: p_ruleset_code is NULL; OM081: there is no such ruleset or '
'version; OM287: the function has changed since it was defined; OM288: the ruleset is of another '
'kind, which omd test evaluates. Locks: none. May be NULL: actual, error.';
GRANT EXECUTE ON FUNCTION omd_decision.test_ruleset TO omd_reader, omd_admin;
