-- Every routine that takes a version of a ruleset looks it up here.

CREATE OR REPLACE FUNCTION omd_decision._require_version(
    p_ruleset_code text,
    p_version integer
)
RETURNS omd_decision.ruleset_version
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_version$
DECLARE
    v_version omd_decision.ruleset_version;
BEGIN
    p_ruleset_code := omd.require_argument('p_ruleset_code', p_ruleset_code);
    SELECT v.* INTO v_version
    FROM omd_decision.ruleset AS r
    INNER JOIN omd_decision.ruleset_version AS v USING (ruleset_id)
    WHERE r.ruleset_code = p_ruleset_code AND (v.version = p_version OR p_version IS NULL)
    ORDER BY v.version DESC
    LIMIT 1;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM081',
            jsonb_build_object(
                'ruleset_code', p_ruleset_code,
                'version', p_version,
                'version_of', coalesce('version ' || p_version || ' of ', '')
            )
        );
    END IF;
    RETURN v_version;
END
$require_version$;

COMMENT ON FUNCTION omd_decision._require_version IS
'Returns the version p_version of the ruleset p_ruleset_code; NULL: the newest. Errors: OM005: '
'p_ruleset_code is NULL; OM081. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._require_version TO omd_reader;
