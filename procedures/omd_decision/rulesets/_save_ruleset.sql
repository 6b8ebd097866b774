-- Documents that are defined at once become a version each: the row of the ruleset is locked. A
-- test case that changes loses its results.

CREATE OR REPLACE FUNCTION omd_decision._save_ruleset(
    p_ruleset jsonb
)
RETURNS omd_decision.ruleset_version
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $save_ruleset$
DECLARE
    v_code CONSTANT text := p_ruleset ->> 'ruleset';
    v_problems jsonb;
    v_ruleset omd_decision.ruleset;
    v_hash text;
    v_version omd_decision.ruleset_version;
BEGIN
    PERFORM omd.require_read_committed();
    PERFORM omd_decision._raise_invalid(
        'ruleset', left(v_code, 200),
        jsonb_build_array(jsonb_build_object('path', d.path, 'text', d.problem))
    )
    FROM omd.document_problem(p_ruleset) AS d
    WHERE d.problem IS NOT NULL;
    INSERT INTO omd_decision.ruleset (ruleset_code, kind)
    SELECT v_code, p_ruleset ->> 'kind'
    WHERE NOT EXISTS (SELECT FROM omd_decision._ruleset_problems(p_ruleset))
    ON CONFLICT (ruleset_code) DO NOTHING;
    SELECT r.* INTO v_ruleset
    FROM omd_decision.ruleset AS r
    WHERE r.ruleset_code = v_code
    FOR NO KEY UPDATE;
    -- The kind is compared under the lock.
    SELECT
        jsonb_agg(
            jsonb_build_object('path', p.path, 'text', p.text)
            ORDER BY p.path COLLATE "C", p.text COLLATE "C"
        )
    INTO v_problems
    FROM omd_decision._ruleset_problems(p_ruleset) AS p;
    IF v_problems IS NOT NULL THEN
        PERFORM omd_decision._raise_invalid(
            'ruleset',
            CASE WHEN jsonb_typeof(p_ruleset) = 'object' THEN v_code END,
            v_problems
        );
    END IF;

    v_hash := omd_decision._content_hash(v_ruleset.kind, p_ruleset -> 'content');
    SELECT v.* INTO v_version
    FROM omd_decision.ruleset_version AS v
    WHERE v.ruleset_id = v_ruleset.ruleset_id
    ORDER BY v.version DESC
    LIMIT 1;
    IF v_version.content_hash IS DISTINCT FROM v_hash
        OR v_version.content IS DISTINCT FROM p_ruleset -> 'content'
    THEN
        INSERT INTO omd_decision.ruleset_version AS v (
            ruleset_id, version, content, content_hash, state, defined_by
        )
        VALUES (
            v_ruleset.ruleset_id,
            coalesce(v_version.version, 0) + 1,
            p_ruleset -> 'content',
            v_hash,
            'DRAFT',
            omd.editor()
        )
        RETURNING v.* INTO v_version;
    END IF;

    IF p_ruleset ? 'tests' THEN
        DELETE FROM omd_decision.ruleset_test AS t
        WHERE t.ruleset_id = v_ruleset.ruleset_id
            AND NOT EXISTS (
                SELECT FROM omd.json_items(p_ruleset -> 'tests') AS i
                WHERE i.item ->> 'name' = t.test_name
                    AND i.item -> 'input' = t.input
                    AND i.item -> 'expected' = t.expected
            );
        INSERT INTO omd_decision.ruleset_test (ruleset_id, test_name, input, expected)
        SELECT
            v_ruleset.ruleset_id, i.item ->> 'name', i.item -> 'input', i.item -> 'expected'
        FROM omd.json_items(p_ruleset -> 'tests') AS i
        ON CONFLICT (ruleset_id, test_name) DO NOTHING;
    END IF;
    RETURN v_version;
END
$save_ruleset$;

COMMENT ON FUNCTION omd_decision._save_ruleset IS
'Saves the ruleset document p_ruleset and its test cases; other content is the next version. '
'Returns the version that holds then. Errors: OM014, OM082. Locks: the ruleset.';
GRANT EXECUTE ON FUNCTION omd_decision._save_ruleset TO omd_admin;
