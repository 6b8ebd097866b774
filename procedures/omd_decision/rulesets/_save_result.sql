-- One result per version and test case is kept: the newest.

CREATE OR REPLACE FUNCTION omd_decision._save_result(
    p_version omd_decision.ruleset_version,
    p_test_name text,
    p_passed boolean,
    p_actual jsonb,
    p_error text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $save_result$
BEGIN
    INSERT INTO omd_decision.ruleset_test_result AS r (
        ruleset_id, version, test_name, passed, actual, error
    )
    VALUES (
        p_version.ruleset_id, p_version.version, p_test_name, p_passed, p_actual, p_error
    )
    ON CONFLICT (ruleset_id, version, test_name) DO UPDATE SET
        passed = excluded.passed,
        actual = excluded.actual,
        error = excluded.error,
        tested_at = excluded.tested_at;
END
$save_result$;

COMMENT ON FUNCTION omd_decision._save_result IS
'Records the result of the test case p_test_name of the version p_version. Locks: the result.';
GRANT EXECUTE ON FUNCTION omd_decision._save_result TO omd_admin;
