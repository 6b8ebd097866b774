-- All problems are found in one pass, so that a person mends a document once.

CREATE OR REPLACE FUNCTION omd_decision._ruleset_problems(
    p_ruleset jsonb
)
RETURNS TABLE (
    path text,
    text text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $ruleset_problems$
DECLARE
    v_kind text := p_ruleset ->> 'kind';
    v_content jsonb := p_ruleset -> 'content';
BEGIN
    RETURN QUERY
    SELECT s.* FROM omd_decision._shape_problems('ruleset', '', p_ruleset) AS s
    UNION ALL
    SELECT s.*
    FROM omd_decision._named_items(p_ruleset -> 'tests', 'tests', 'name') AS t
    CROSS JOIN LATERAL omd_decision._shape_problems('test', t.path, t.item) AS s
    UNION ALL
    SELECT t.path || '.name', 'another test case has this name'
    FROM omd_decision._named_items(p_ruleset -> 'tests', 'tests', 'name') AS t
    WHERE EXISTS (
        SELECT FROM omd_decision._named_items(p_ruleset -> 'tests', 'tests', 'name') AS o
        WHERE o.name = t.name AND o.ordinal < t.ordinal
    )
    UNION ALL
    SELECT 'kind', format('the ruleset is of kind %s, and stays so', r.kind)
    FROM omd_decision.ruleset AS r
    WHERE r.ruleset_code = p_ruleset ->> 'ruleset' AND r.kind <> v_kind;

    IF v_content IS NULL THEN
        RETURN;
    ELSIF v_kind = 'FUNCTION' THEN
        RETURN QUERY
        SELECT
            'content',
            CASE
                WHEN p.oid IS NULL
                    THEN 'expected: schema.function, which takes a jsonb and returns a jsonb'
                ELSE 'the function must be IMMUTABLE or STABLE'
            END
        FROM (SELECT omd_decision._function(v_content) AS oid) AS f
        LEFT JOIN pg_proc AS p ON f.oid = p.oid
        WHERE p.oid IS NULL OR p.provolatile = 'v';
    ELSIF v_kind = 'PYTHON' THEN
        RETURN QUERY
        SELECT 'content', 'expected: module:function'
        WHERE jsonb_typeof(v_content) <> 'string'
            OR (v_content #>> '{}') !~ '^[[:alpha:]_][[:alnum:]_.]*:[[:alpha:]_][[:alnum:]_]*$';
    ELSIF v_kind = 'JDM' THEN
        RETURN QUERY SELECT m.* FROM omd_decision._model_problems(v_content) AS m;
    END IF;
END
$ruleset_problems$;

COMMENT ON FUNCTION omd_decision._ruleset_problems IS
'Returns every problem of the ruleset document p_ruleset: its path and a text. There is no row '
'when all is well. Locks: none.';
