-- This is the list of properties that a document may have, and of what each holds. It looks at
-- one object and at nothing around it.

CREATE OR REPLACE FUNCTION omd_decision._shape_problems(
    p_level text,
    p_path text,
    p_object jsonb
)
RETURNS TABLE (
    path text,
    text text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $shape_problems$
BEGIN
    IF jsonb_typeof(p_object) IS DISTINCT FROM 'object' THEN
        RETURN QUERY SELECT p_path, 'expected: an object';
        RETURN;
    END IF;
    RETURN QUERY
    WITH shape (level, property, holds, is_required) AS (
        VALUES
        ('stage', 'stage', 'name', TRUE),
        ('stage', 'mode', 'mode', FALSE),
        ('stage', 'batch_size', 'size', FALSE),
        ('stage', 'keys', 'list', FALSE),
        ('stage', 'wave', 'name', FALSE),
        ('stage', 'start', 'object', FALSE),
        ('stage', 'window', 'object', FALSE),
        ('stage', 'ruleset', 'name', TRUE),
        ('stage', 'links', 'items', TRUE),
        ('stage', 'outputs', 'items', TRUE),
        ('stage', 'keep', 'keep', FALSE),
        ('stage', 'max_array_rows', 'count', FALSE),
        ('stage', 'module', 'object', FALSE),
        ('key', 'column', 'name', TRUE),
        ('key', 'direction', 'direction', FALSE),
        ('start', 'when', 'news', FALSE),
        ('start', 'every', 'pause', FALSE),
        ('window', 'by', 'changes', FALSE),
        ('window', 'column', 'name', FALSE),
        ('window', 'delay', 'interval', FALSE),
        ('module', 'module_code', 'name', FALSE),
        ('module', 'area_code', 'name', FALSE),
        ('link', 'name', 'name', TRUE),
        ('link', 'source', 'relation', FALSE),
        ('link', 'arrival', 'name', TRUE),
        ('link', 'array', 'boolean', FALSE),
        ('link', 'buffer', 'boolean', FALSE),
        ('link', 'parameter', 'name', FALSE),
        ('link', 'reject', 'object', FALSE),
        ('reject', 'on', 'codes', TRUE),
        ('reject', 'abort_after', 'rows', FALSE),
        ('output', 'name', 'name', TRUE),
        ('output', 'parameter', 'name', FALSE),
        ('output', 'table', 'relation', TRUE),
        ('output', 'columns', 'names', FALSE),
        ('output', 'propagate', 'object', FALSE),
        ('propagate', 'link', 'name', TRUE),
        ('propagate', 'by', 'by', TRUE),
        ('ruleset', 'ruleset', 'name', TRUE),
        ('ruleset', 'kind', 'kind', TRUE),
        ('ruleset', 'content', 'any', TRUE),
        ('ruleset', 'tests', 'list', FALSE),
        ('test', 'name', 'name', TRUE),
        ('test', 'input', 'object', TRUE),
        ('test', 'expected', 'object', TRUE)
    ),

    expected (holds, words) AS (
        VALUES
        ('name', 'a text that is not blank, of at most 2600 bytes'),
        ('names', 'a list of different texts, not empty'),
        ('mode', 'BATCH or KEY'),
        ('size', 'a whole number from 0 to 999999999'),
        ('count', 'a whole number from 1 to 999999999'),
        ('rows', 'a whole number, 0 or more'),
        ('list', 'a list'),
        ('items', 'a list that is not empty'),
        ('object', 'an object'),
        ('any', 'a text or a model'),
        ('keep', 'NONE, CYCLES or TRACE'),
        ('direction', 'ASC or DESC'),
        ('interval', 'an interval, 0 or more'),
        ('pause', 'an interval of more than 0'),
        ('news', 'NEWS'),
        ('changes', 'CHANGES'),
        ('relation', 'schema.table, as SQL writes it'),
        ('boolean', 'true or false'),
        ('codes', 'a list of LEFTOVER, KEY_MISMATCH or both'),
        ('by', 'ORDER or KEY'),
        ('kind', 'FUNCTION, JDM or PYTHON')
    ),

    given AS (
        SELECT
            g.key AS property,
            g.value,
            jsonb_typeof(g.value) AS is_a,
            CASE WHEN jsonb_typeof(g.value) = 'string' THEN g.value #>> '{}' END AS words,
            CASE
                WHEN jsonb_typeof(g.value) = 'number' AND (g.value #>> '{}') ~ '^[0-9]{1,18}$'
                    THEN (g.value #>> '{}')::bigint
            END AS whole
        FROM jsonb_each(p_object) AS g
    )

    SELECT
        concat_ws('.', nullif(p_path, ''), s.property),
        'is missing; expected: ' || e.words
    FROM shape AS s
    INNER JOIN expected AS e USING (holds)
    WHERE s.level = p_level AND s.is_required AND NOT p_object ? s.property
    UNION ALL
    SELECT
        concat_ws('.', nullif(p_path, ''), g.property),
        coalesce('expected: ' || e.words, 'unknown property')
    FROM given AS g
    LEFT JOIN shape AS s ON s.level = p_level AND g.property = s.property
    LEFT JOIN expected AS e USING (holds)
    WHERE NOT coalesce(
        CASE s.holds
            WHEN 'name' THEN g.words !~ '^[[:space:]]*$' AND octet_length(g.words) <= 2600
            WHEN 'names' THEN
                g.is_a = 'array' AND g.value <> '[]'
                AND NOT EXISTS (
                    SELECT FROM omd.json_items(g.value) AS i
                    GROUP BY i.item
                    HAVING count(*) > 1 OR jsonb_typeof(i.item) <> 'string'
                )
            WHEN 'mode' THEN g.words IN ('BATCH', 'KEY')
            WHEN 'size' THEN g.whole <= 999999999
            WHEN 'count' THEN g.whole BETWEEN 1 AND 999999999
            WHEN 'rows' THEN g.whole >= 0
            WHEN 'list' THEN g.is_a = 'array'
            WHEN 'items' THEN g.is_a = 'array' AND g.value <> '[]'
            WHEN 'object' THEN g.is_a = 'object'
            WHEN 'any' THEN TRUE
            WHEN 'keep' THEN g.words IN ('NONE', 'CYCLES', 'TRACE')
            WHEN 'direction' THEN g.words IN ('ASC', 'DESC')
            WHEN 'interval' THEN omd_decision._interval(g.words) >= interval '0'
            WHEN 'pause' THEN omd_decision._interval(g.words) > interval '0'
            WHEN 'news' THEN g.words = 'NEWS'
            WHEN 'changes' THEN g.words = 'CHANGES'
            WHEN 'relation' THEN omd.quote_table(g.words, 'POSTGRES') IS NOT NULL
            WHEN 'boolean' THEN g.is_a = 'boolean'
            WHEN 'codes' THEN
                g.is_a = 'array' AND g.value <> '[]'
                AND g.value <@ '["LEFTOVER", "KEY_MISMATCH"]'
            WHEN 'by' THEN g.words IN ('ORDER', 'KEY')
            WHEN 'kind' THEN g.words IN ('FUNCTION', 'JDM', 'PYTHON')
        END,
        FALSE
    );
END
$shape_problems$;

COMMENT ON FUNCTION omd_decision._shape_problems IS
'Returns what is wrong with the properties of the object p_object at p_path; p_level: stage, '
'key, start, window, module, link, reject, output, propagate, ruleset or test. Locks: none.';
