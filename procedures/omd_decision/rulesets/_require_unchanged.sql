-- A function may be replaced at any time; what runs must be what was defined and tested.

CREATE OR REPLACE FUNCTION omd_decision._require_unchanged(
    p_ruleset_code text,
    p_version omd_decision.ruleset_version
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_unchanged$
DECLARE
    v_kind text := (
        SELECT r.kind FROM omd_decision.ruleset AS r WHERE r.ruleset_id = p_version.ruleset_id
    );
BEGIN
    IF v_kind = 'FUNCTION'
        AND omd_decision._content_hash(v_kind, p_version.content)
        IS DISTINCT FROM p_version.content_hash
    THEN
        PERFORM omd.raise_error(
            'OM287',
            jsonb_build_object(
                'ruleset_code', p_ruleset_code,
                'version', p_version.version,
                'content', p_version.content
            )
        );
    END IF;
END
$require_unchanged$;

COMMENT ON FUNCTION omd_decision._require_unchanged IS
'Raises an error when the function of the version p_version of the ruleset p_ruleset_code has '
'changed since it was defined. Errors: OM287. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._require_unchanged TO omd_reader, omd_runner;
