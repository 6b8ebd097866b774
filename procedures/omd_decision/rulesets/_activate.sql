-- The tests have run with the rights of the caller; whether each present case has passed is
-- asked of what is recorded.

CREATE OR REPLACE FUNCTION omd_decision._activate(
    p_ruleset_code text,
    p_version omd_decision.ruleset_version,
    p_effective_from timestamptz,
    p_effective_to timestamptz
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $activate$
DECLARE
    v_from timestamptz := coalesce(p_effective_from, now());
    v_tests jsonb;
BEGIN
    IF p_effective_to <= v_from THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_effective_to', 'value', p_effective_to,
                'expected', 'a time after p_effective_from'
            )
        );
    END IF;
    PERFORM FROM omd_decision.ruleset AS r
    WHERE r.ruleset_id = p_version.ruleset_id
    FOR NO KEY UPDATE;
    SELECT jsonb_agg(t.test_name ORDER BY t.test_name) INTO v_tests
    FROM omd_decision.ruleset_test AS t
    WHERE t.ruleset_id = p_version.ruleset_id
        AND NOT EXISTS (
            SELECT FROM omd_decision.ruleset_test_result AS r
            WHERE r.ruleset_id = t.ruleset_id
                AND r.version = p_version.version
                AND r.test_name = t.test_name
                AND r.passed
        );
    IF v_tests IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM180',
            jsonb_build_object(
                'ruleset_code', p_ruleset_code, 'version', p_version.version, 'tests', v_tests
            )
        );
    END IF;
    UPDATE omd_decision.ruleset_version AS v SET
        state = 'ACTIVE',
        effective_from = v_from,
        effective_to = p_effective_to
    WHERE v.ruleset_id = p_version.ruleset_id AND v.version = p_version.version;
    PERFORM omd.write_event(
        0, 0, 4, 'ACTIVATED',
        format(
            '%s: version %s of ruleset %s, from %s%s',
            omd.editor(), p_version.version, p_ruleset_code, v_from, ' until ' || p_effective_to
        )
    );
END
$activate$;

COMMENT ON FUNCTION omd_decision._activate IS
'Activates the version p_version of the ruleset p_ruleset_code, for runs from p_effective_from '
'(NULL: now) until p_effective_to. Errors: OM013: the end is not after the start; OM180: a test '
'case has not passed. Locks: the ruleset.';
GRANT EXECUTE ON FUNCTION omd_decision._activate TO omd_admin;
