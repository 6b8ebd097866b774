-- This is the list of keys that a model document may have, and of what each holds. It looks at one
-- object of the document and at nothing around it.

CREATE OR REPLACE FUNCTION omd_delivery._shape_problems(
    p_level text,
    p_path text,
    p_object jsonb
)
RETURNS TABLE (
    path text,
    problem text
)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH shape (level, key, holds, is_required) AS (
        VALUES
        ('model', 'interface', 'code', TRUE),
        ('model', 'entities', 'items', TRUE),
        ('model', 'settings', 'object', FALSE),
        ('model', 'facts', 'object', FALSE),
        ('entity', 'name', 'code', TRUE),
        ('entity', 'key', 'names', TRUE),
        ('entity', 'attributes', 'items', TRUE),
        ('entity', 'alternate_keys', 'list', FALSE),
        ('entity', 'relationships', 'list', FALSE),
        ('entity', 'constraints', 'list', FALSE),
        ('entity', 'indicator', 'object', FALSE),
        ('entity', 'derived', 'object', FALSE),
        ('entity', 'retired', 'boolean', FALSE),
        ('entity', 'facts', 'object', FALSE),
        ('attribute', 'name', 'attribute', TRUE),
        ('attribute', 'type', 'type', TRUE),
        ('attribute', 'mandatory', 'boolean', FALSE),
        ('attribute', 'values', 'values', FALSE),
        ('attribute', 'source', 'column', FALSE),
        ('attribute', 'computed', 'text', FALSE),
        ('attribute', 'format', 'text', FALSE),
        ('attribute', 'retired', 'boolean', FALSE),
        ('attribute', 'facts', 'object', FALSE),
        ('alternate_key', 'name', 'code', TRUE),
        ('alternate_key', 'attributes', 'names', TRUE),
        ('relationship', 'name', 'code', TRUE),
        ('relationship', 'parent', 'text', TRUE),
        ('relationship', 'columns', 'names', TRUE),
        ('relationship', 'context_filter', 'boolean', FALSE),
        ('relationship', 'child_required', 'boolean', FALSE),
        ('constraint', 'name', 'code', TRUE),
        ('constraint', 'type', 'constraint', TRUE),
        ('constraint', 'attribute', 'text', FALSE),
        ('constraint', 'check', 'text', FALSE),
        ('constraint', 'query', 'text', FALSE),
        ('indicator', 'column', 'column', FALSE),
        ('indicator', 'delete', 'text', FALSE),
        ('derived', 'from', 'names', TRUE),
        ('derived', 'query', 'text', TRUE),
        ('setting', 'action', 'action', FALSE),
        ('setting', 'threshold', 'threshold', FALSE),
        ('setting', 'threshold_percent', 'percent', FALSE),
        ('setting', 'warn', 'count', FALSE),
        ('setting', 'warn_percent', 'percent', FALSE),
        ('setting', 'enabled', 'boolean', FALSE)
    ),

    expected (holds, words) AS (
        VALUES
        ('code', 'a lower case letter, then at most 40 of a-z, 0-9 and _'),
        (
            'attribute',
            'a lower case letter, then at most 40 of a-z, 0-9 and _, not acm_…, delivery_id or the'
            ' name of a system column'
        ),
        ('text', 'a text that is not blank'),
        (
            'column',
            'the name of a staged column, not blank, of at most 63 bytes, not that of a system'
            ' column'
        ),
        ('boolean', 'true or false'),
        ('object', 'an object'),
        ('list', 'a list'),
        ('items', 'a list that is not empty'),
        ('names', 'a list of at most 32 different names, not empty'),
        ('values', 'a list of texts, numbers or booleans, not empty'),
        (
            'type',
            'boolean, smallint, integer, bigint, numeric(p,s) with s <= p <= 38, double precision,'
            ' text, text(n), date, timestamp or timestamptz'
        ),
        ('constraint', 'value, record or set'),
        ('action', 'SKIP ROW, EMPTY COLUMN or NO ACTION'),
        ('threshold', 'a number of rows, or none'),
        ('count', 'a number of rows'),
        ('percent', 'a number from 0 to 100')
    ),

    given AS (
        SELECT
            g.key,
            g.value,
            jsonb_typeof(g.value) AS is_a,
            CASE WHEN jsonb_typeof(g.value) = 'string' THEN g.value #>> '{}' END AS words
        FROM
            jsonb_each(
                CASE WHEN jsonb_typeof(p_object) = 'object' THEN p_object ELSE '{}' END
            ) AS g
    )

    SELECT
        p_path AS path,
        concat_ws('; found: ', 'expected: an object', omd.shown_value(p_object)) AS problem
    WHERE jsonb_typeof(p_object) IS DISTINCT FROM 'object'
    UNION ALL
    SELECT
        concat_ws('.', nullif(p_path, ''), s.key) AS path,
        'is missing; expected: ' || e.words AS problem
    FROM shape AS s
    INNER JOIN expected AS e ON s.holds = e.holds
    WHERE
        s.level = p_level
        AND s.is_required
        AND jsonb_typeof(p_object) = 'object'
        AND NOT p_object ? s.key
    UNION ALL
    SELECT
        concat_ws('.', nullif(p_path, ''), g.key) AS path,
        CASE
            WHEN s.key IS NOT NULL
                THEN format('expected: %s; found: %s', e.words, omd.shown_value(g.value))
            ELSE concat_ws(
                '; ',
                'unknown key',
                'did you mean '
                || omd.did_you_mean(
                    g.key, ARRAY(SELECT k.key FROM shape AS k WHERE k.level = p_level)
                )
                || '?'
            )
        END AS problem
    FROM given AS g
    LEFT JOIN shape AS s ON s.level = p_level AND g.key = s.key
    LEFT JOIN expected AS e ON s.holds = e.holds
    WHERE NOT coalesce(
        CASE s.holds
            WHEN 'code' THEN g.words ~ '^[a-z][a-z0-9_]{0,40}$'
            WHEN 'attribute'
                THEN
                    g.words ~ '^[a-z][a-z0-9_]{0,40}$'
                    AND g.words !~ '^(acm_.*|delivery_id|ctid|tableoid|[cx](min|max))$'
            WHEN 'text' THEN g.words !~ '^[[:space:]]*$'
            WHEN 'column'
                THEN
                    g.words !~ '^([[:space:]]*|ctid|tableoid|[cx](min|max))$'
                    AND octet_length(g.words) <= 63
            WHEN 'boolean' THEN g.is_a = 'boolean'
            WHEN 'object' THEN g.is_a = 'object'
            WHEN 'list' THEN g.is_a = 'array'
            WHEN 'items' THEN g.is_a = 'array' AND g.value <> '[]'
            WHEN 'names'
                THEN
                    g.is_a = 'array'
                    AND cardinality(omd_delivery._names(g.value)) BETWEEN 1 AND 32
                    AND NOT EXISTS (
                        SELECT FROM omd.json_items(g.value) AS i
                        GROUP BY i.item
                        HAVING count(*) > 1 OR jsonb_typeof(i.item) <> 'string'
                    )
            WHEN 'values'
                THEN
                    g.is_a = 'array' AND g.value <> '[]'
                    AND NOT EXISTS (
                        SELECT FROM omd.json_items(g.value) AS i
                        WHERE jsonb_typeof(i.item) NOT IN ('string', 'number', 'boolean')
                    )
            WHEN 'type' THEN omd_delivery._data_type(g.words) IS NOT NULL
            WHEN 'constraint' THEN g.words IN ('value', 'record', 'set')
            WHEN 'action' THEN omd_delivery._action_code(g.words) IS NOT NULL
            WHEN 'threshold'
                THEN
                    g.words = 'none'
                    OR (
                        g.is_a = 'number'
                        AND g.value >= '0' AND g.value <= '9223372036854775807'
                        AND g.value::numeric = trunc(g.value::numeric)
                    )
            WHEN 'count'
                THEN
                    g.is_a = 'number'
                    AND g.value >= '0' AND g.value <= '9223372036854775807'
                    AND g.value::numeric = trunc(g.value::numeric)
            WHEN 'percent' THEN g.is_a = 'number' AND g.value >= '0' AND g.value <= '100'
        END,
        FALSE
    );
END;

COMMENT ON FUNCTION omd_delivery._shape_problems IS
'Returns what is wrong with the keys of p_object and with what they hold, each with its path. '
'p_level: what the object is: model, entity, attribute, alternate_key, relationship, constraint, '
'indicator, derived or setting. p_path: where it is. Locks: none.';
