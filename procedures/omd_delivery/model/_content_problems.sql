-- These rules look at several objects of the document at once. What has the wrong shape takes no
-- part: its problem is reported already.

CREATE OR REPLACE FUNCTION omd_delivery._content_problems(
    p_model jsonb
)
RETURNS TABLE (
    path text,
    problem text
)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH RECURSIVE object AS MATERIALIZED (
        SELECT o.* FROM omd_delivery._model_objects(p_model) AS o
    ),

    entity AS (
        SELECT
            o.*,
            omd_delivery._names(o.definition -> 'key') AS key_codes
        FROM object AS o
        WHERE o.kind = 'entity' AND o.object_code IS NOT NULL
    ),

    attribute AS (
        SELECT
            o.*,
            o.definition ->> 'type' AS data_type,
            omd_delivery._type_kind(o.definition ->> 'type') AS type_kind,
            (o.definition -> 'retired')::boolean AS is_retired
        FROM object AS o
        WHERE o.kind = 'attribute' AND o.object_code IS NOT NULL
    ),

    relationship AS (
        SELECT
            o.*,
            o.definition ->> 'parent' AS parent_code,
            omd_delivery._names(o.definition -> 'columns') AS column_codes
        FROM object AS o
        WHERE o.kind = 'relationship' AND o.object_code IS NOT NULL
    ),

    -- Which attributes an object names, and where.
    named AS (
        SELECT
            e.entity_code,
            format('%s.key[%s]', e.path, k.n - 1) AS path,
            k.code
        FROM entity AS e
        CROSS JOIN LATERAL unnest(e.key_codes) WITH ORDINALITY AS k (code, n)
        UNION ALL
        SELECT
            o.entity_code,
            format('%s.attributes[%s]', o.path, k.n - 1) AS path,
            k.code
        FROM object AS o
        CROSS JOIN
            LATERAL unnest(omd_delivery._names(o.definition -> 'attributes'))
            WITH ORDINALITY AS k (code, n)
        WHERE o.kind = 'alternate_key'
        UNION ALL
        SELECT
            r.entity_code,
            format('%s.columns[%s]', r.path, k.n - 1) AS path,
            k.code
        FROM relationship AS r
        CROSS JOIN LATERAL unnest(r.column_codes) WITH ORDINALITY AS k (code, n)
        UNION ALL
        SELECT
            o.entity_code,
            o.path || '.attribute' AS path,
            o.definition ->> 'attribute' AS code
        FROM object AS o
        WHERE o.kind = 'constraint' AND o.definition ->> 'attribute' IS NOT NULL
    ),

    filter AS (
        SELECT DISTINCT
            r.entity_code AS child_code,
            r.parent_code
        FROM relationship AS r
        WHERE (r.definition -> 'context_filter')::boolean
    ),

    above AS (
        SELECT
            f.child_code,
            f.parent_code
        FROM filter AS f
        UNION
        SELECT
            a.child_code,
            f.parent_code
        FROM above AS a
        INNER JOIN filter AS f ON a.parent_code = f.child_code
    )

    SELECT
        d.path || '.name' AS path,
        format('the name "%s" occurs twice', d.object_code) AS problem
    FROM (
        SELECT
            o.path,
            o.object_code,
            row_number() OVER (
                PARTITION BY
                    o.entity_code,
                    CASE
                        WHEN o.kind IN ('entity', 'attribute') THEN o.kind ELSE 'constraint'
                    END,
                    o.object_code
                ORDER BY
                    array_position(
                        ARRAY['alternate_key', 'relationship', 'constraint'], o.kind
                    ),
                    o.ordinal
            ) AS n
        FROM object AS o
        WHERE
            o.kind IN ('attribute', 'alternate_key', 'relationship', 'constraint')
            AND o.object_code IS NOT NULL
            AND o.entity_code IS NOT NULL
        UNION ALL
        SELECT
            e.path,
            e.object_code,
            row_number() OVER (PARTITION BY e.object_code ORDER BY e.ordinal) AS n
        FROM entity AS e
    ) AS d
    WHERE d.n > 1
    UNION ALL
    SELECT
        o.path || '.name' AS path,
        format(
            'the name "%s" is that of a constraint which each entity has', o.object_code
        ) AS problem
    FROM object AS o
    WHERE
        o.kind IN ('alternate_key', 'relationship', 'constraint')
        AND o.object_code IN (
            'columns', 'row_count', 'row_format', 'primary_key', 'context', 'deletes'
        )
    UNION ALL
    -- The child and the relationship of a child_exists may read as an attribute and its constraint.
    SELECT
        r.path || '.name' AS path,
        format(
            '"%s.%s" is a constraint of "%s" already', r.entity_code, r.object_code, r.parent_code
        ) AS problem
    FROM relationship AS r
    INNER JOIN attribute AS a
        ON r.parent_code = a.entity_code AND r.entity_code = a.object_code
    WHERE
        (r.definition -> 'child_required')::boolean
        AND r.object_code IN ('datatype', 'mandatory', 'enumeration')
    UNION ALL
    SELECT
        e.path || '.attributes' AS path,
        'at most 1500 attributes' AS problem
    FROM entity AS e
    INNER JOIN attribute ON e.entity_code = attribute.entity_code
    GROUP BY e.path
    HAVING count(*) > 1500
    UNION ALL
    SELECT
        n.path,
        CASE
            WHEN a.object_code IS NULL THEN format('there is no attribute "%s"', n.code)
            ELSE format('the attribute "%s" is retired', n.code)
        END AS problem
    FROM named AS n
    LEFT JOIN attribute AS a ON n.entity_code = a.entity_code AND n.code = a.object_code
    WHERE n.entity_code IS NOT NULL AND (a.object_code IS NULL OR a.is_retired)
    UNION ALL
    SELECT
        n.path,
        'either source or computed' AS problem
    FROM omd_delivery._model_nodes(p_model) AS n
    WHERE n.level = 'attribute' AND n.node ? 'source' AND n.node ? 'computed'
    UNION ALL
    SELECT
        a.path || '.format' AS path,
        format(
            'only a date, timestamp or timestamptz has one; found: %s, of the type %s',
            omd.shown_value(a.definition -> 'format'), a.data_type
        ) AS problem
    FROM attribute AS a
    WHERE
        a.definition ->> 'format' IS NOT NULL
        AND a.type_kind NOT IN ('date', 'timestamp', 'timestamptz')
    UNION ALL
    SELECT
        format('%s.values[%s]', a.path, v.ordinal - 1) AS path,
        format(
            'it is no value of the type %s; found: %s', a.data_type, omd.shown_value(v.item)
        ) AS problem
    FROM attribute AS a
    CROSS JOIN LATERAL omd.json_items(a.definition -> 'values') AS v
    WHERE
        jsonb_typeof(v.item) IN ('string', 'number', 'boolean')
        AND NOT omd_delivery._is_value(a.data_type, v.item)
    UNION ALL
    SELECT
        r.path || '.parent' AS path,
        format('there is no entity "%s"', r.parent_code) AS problem
    FROM relationship AS r
    WHERE
        r.parent_code IS NOT NULL
        AND NOT EXISTS (SELECT FROM entity AS e WHERE e.object_code = r.parent_code)
    UNION ALL
    SELECT
        r.path || '.columns' AS path,
        format(
            'as many columns as the key of "%s" has: %s',
            r.parent_code, array_to_string(p.key_codes, ', ')
        ) AS problem
    FROM relationship AS r
    INNER JOIN entity AS p ON r.parent_code = p.object_code
    WHERE
        cardinality(r.column_codes) <> cardinality(p.key_codes)
        AND cardinality(r.column_codes) > 0 AND cardinality(p.key_codes) > 0
    UNION ALL
    SELECT
        format('%s.columns[%s]', r.path, k.n - 1) AS path,
        format(
            'the attribute "%s" is of type %s, and "%s" in the key of "%s" of type %s',
            c.object_code, c.data_type, k.code, r.parent_code, a.data_type
        ) AS problem
    FROM relationship AS r
    INNER JOIN entity AS p ON r.parent_code = p.object_code
    CROSS JOIN LATERAL unnest(p.key_codes) WITH ORDINALITY AS k (code, n)
    INNER JOIN attribute AS a ON p.object_code = a.entity_code AND k.code = a.object_code
    INNER JOIN attribute AS c
        ON r.entity_code = c.entity_code AND r.column_codes[k.n] = c.object_code
    WHERE c.type_kind <> a.type_kind
    UNION ALL
    SELECT
        r.path || '.context_filter' AS path,
        'the context filters form a circle' AS problem
    FROM relationship AS r
    WHERE
        (r.definition -> 'context_filter')::boolean
        AND (
            r.parent_code = r.entity_code
            OR EXISTS (
                SELECT FROM above AS a
                WHERE a.child_code = r.parent_code AND a.parent_code = r.entity_code
            )
        )
    UNION ALL
    SELECT
        format('%s.derived.from[%s]', e.path, f.n - 1) AS path,
        CASE
            WHEN o.object_code IS NULL THEN format('there is no entity "%s"', f.code)
            ELSE format('the entity "%s" is derived itself', f.code)
        END AS problem
    FROM entity AS e
    CROSS JOIN
        LATERAL unnest(omd_delivery._names(e.definition -> 'derived' -> 'from'))
        WITH ORDINALITY AS f (code, n)
    LEFT JOIN entity AS o ON f.code = o.object_code
    WHERE o.object_code IS NULL OR jsonb_typeof(o.definition -> 'derived') = 'object'
    UNION ALL
    SELECT
        concat_ws('.', o.path, k.key) AS path,
        format('a constraint of the type %s %s', o.definition ->> 'type', k.problem) AS problem
    FROM object AS o
    CROSS JOIN
        LATERAL (
            VALUES
            ('value', 'attribute', TRUE),
            ('value', 'check', TRUE),
            ('value', 'query', FALSE),
            ('record', 'attribute', FALSE),
            ('record', 'check', TRUE),
            ('record', 'query', FALSE),
            ('set', 'attribute', FALSE),
            ('set', 'check', FALSE),
            ('set', 'query', TRUE)
        ) AS r (type, key, is_needed)
    CROSS JOIN
        LATERAL (
            VALUES (r.key, CASE WHEN r.is_needed THEN 'needs one' ELSE 'has none' END)
        ) AS k (key, problem)
    WHERE
        o.kind = 'constraint'
        AND o.definition ->> 'type' = r.type
        AND r.is_needed <> (o.definition ->> r.key IS NOT NULL);
END;

COMMENT ON FUNCTION omd_delivery._content_problems IS
'Returns where the objects of the model document p_model contradict each other, each with its '
'path. Locks: none.';
