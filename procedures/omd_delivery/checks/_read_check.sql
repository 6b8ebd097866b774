-- The one entry to the language of checks; Spark's words and the problems come from it.

CREATE OR REPLACE FUNCTION omd_delivery._read_check(
    p_check text,
    p_types jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $read_check$
DECLARE
    v_kinds text[];
    v_words text[];
    v_bad text;
    v_node jsonb;
BEGIN
    IF length(p_check) > 10000 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'syntax_error',
            MESSAGE = 'it is longer than 10000 characters';
    END IF;
    SELECT
        array_agg(t.kind ORDER BY t.n),
        array_agg(t.word ORDER BY t.n)
    INTO v_kinds, v_words
    FROM (
        SELECT
            c.*,
            row_number() OVER () AS n
        FROM omd_delivery._check_tokens(p_check) AS c
    ) AS t;
    SELECT w.word INTO v_bad
    FROM unnest(v_kinds, v_words) WITH ORDINALITY AS w (kind, word, n)
    WHERE w.kind = 'bad'
    ORDER BY w.n
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'syntax_error',
            MESSAGE = CASE
                WHEN v_bad IN ('''', '"') THEN 'a quote is not closed'
                ELSE format('%s is not allowed in a check', v_bad)
            END;
    END IF;
    v_node := omd_delivery._check_part(v_kinds, v_words, p_types, 1, 1, 1);
    IF (v_node -> 'at')::integer <= cardinality(v_kinds) THEN
        PERFORM omd_delivery._check_expect(
            v_kinds, v_words, (v_node -> 'at')::integer, 'the end'
        );
    ELSIF v_node ->> 'kind' <> 'boolean'
        AND (v_node ->> 'kind' <> 'unknown' OR v_node ? 'text')
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'syntax_error',
            MESSAGE = format('a check is true or false, this one is %s', v_node ->> 'kind');
    END IF;
    RETURN v_node || jsonb_build_object(
        'attributes',
        ARRAY(
            SELECT DISTINCT v_words[i.n]
            FROM generate_subscripts(v_words, 1) AS i (n)
            WHERE v_kinds[i.n] IN ('word', 'quoted')
                AND p_types ? v_words[i.n]
                AND v_node ->> 'spark' LIKE format('%%`%s`%%', replace(v_words[i.n], '_', '\_'))
        )
    );
END
$read_check$;

COMMENT ON FUNCTION omd_delivery._read_check IS
'Returns the check p_check over attributes of the types p_types, {attribute: type}, written anew: '
'spark for Spark SQL, sql for PostgreSQL over a row t, and attributes, those that it looks at. In '
'Spark''s words delivery_date() stands for the date of the delivery. Errors: 42601: it is no '
'check. Locks: none.';
