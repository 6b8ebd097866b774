-- What a document leaves out and what is retired already is no change: a model that was deployed
-- once can be deployed again after its parts were retired.

CREATE OR REPLACE FUNCTION omd_delivery._model_changes(
    p_old jsonb,
    p_new jsonb
)
RETURNS TABLE (
    kind text,
    entity_code text,
    object_code text,
    object text,
    change text,
    property text,
    old_value jsonb,
    new_value jsonb,
    place bigint
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH old AS MATERIALIZED (
        SELECT o.* FROM omd_delivery._model_objects(p_old) AS o
    ),

    new AS MATERIALIZED (
        SELECT o.* FROM omd_delivery._model_objects(p_new) AS o
    ),

    pair AS (
        SELECT
            coalesce(n.kind, o.kind) AS kind,
            coalesce(n.entity_code, o.entity_code) AS entity_code,
            coalesce(n.object_code, o.object_code) AS object_code,
            CASE
                WHEN coalesce(n.kind, o.kind) IN ('interface', 'entity', 'setting')
                    THEN coalesce(n.object_code, o.object_code)
                ELSE
                    coalesce(n.entity_code, o.entity_code)
                    || '.' || coalesce(n.object_code, o.object_code)
            END AS object,
            o.definition AS old_definition,
            n.definition AS new_definition,
            row_number() OVER (
                ORDER BY
                    coalesce(n.kind, o.kind) = 'setting',
                    coalesce(n.kind, o.kind) <> 'interface',
                    en.ordinal,
                    eo.ordinal,
                    array_position(
                        ARRAY[
                            'interface', 'entity', 'attribute', 'alternate_key', 'relationship',
                            'constraint', 'setting'
                        ],
                        coalesce(n.kind, o.kind)
                    ),
                    coalesce(n.ordinal, o.ordinal),
                    coalesce(n.object_code, o.object_code) COLLATE "C"
            ) AS place
        FROM new AS n
        FULL JOIN old AS o
            ON
                n.kind = o.kind
                AND coalesce(n.entity_code, '') = coalesce(o.entity_code, '')
                AND n.object_code = o.object_code
        LEFT JOIN new AS en
            ON en.kind = 'entity' AND en.object_code = coalesce(n.entity_code, o.entity_code)
        LEFT JOIN old AS eo
            ON eo.kind = 'entity' AND eo.object_code = coalesce(n.entity_code, o.entity_code)
        WHERE
            n.kind IS NOT NULL
            OR o.kind = 'entity'
            OR o.entity_code IS NULL
            -- The parts of an entity that is left out stay as they are.
            OR EXISTS (
                SELECT FROM new AS e WHERE e.kind = 'entity' AND e.object_code = o.entity_code
            )
    )

    SELECT
        p.kind,
        p.entity_code,
        p.object_code,
        p.object,
        CASE
            WHEN p.old_definition IS NULL THEN format('%s added', words.kind)
            WHEN p.new_definition IS NULL AND p.kind IN ('entity', 'attribute')
                THEN format('%s left out', words.kind)
            WHEN p.new_definition IS NULL THEN format('%s removed', words.kind)
            ELSE format(
                '%s: %s was %s, becomes %s', words.kind, d.property,
                coalesce(nullif(d.old_value, 'null') #>> '{}', 'not given'),
                coalesce(nullif(d.new_value, 'null') #>> '{}', 'not given')
            )
        END AS change,
        d.property,
        d.old_value,
        d.new_value,
        p.place
    FROM pair AS p
    CROSS JOIN LATERAL (SELECT replace(p.kind, '_', ' ') AS kind) AS words
    CROSS JOIN
        LATERAL (
            SELECT
                NULL::text AS property,
                p.old_definition AS old_value,
                p.new_definition AS new_value
            WHERE p.old_definition IS NULL OR p.new_definition IS NULL
            UNION ALL
            SELECT
                coalesce(n.key, o.key) AS property,
                o.value AS old_value,
                n.value AS new_value
            FROM jsonb_each(p.new_definition) AS n
            FULL JOIN jsonb_each(p.old_definition) AS o ON n.key = o.key
            WHERE
                p.old_definition IS NOT NULL
                AND p.new_definition IS NOT NULL
                AND coalesce(n.value, 'null') <> coalesce(o.value, 'null')
        ) AS d
    WHERE
        p.new_definition IS NOT NULL
        OR p.kind NOT IN ('entity', 'attribute')
        OR NOT (p.old_definition -> 'retired')::boolean;
END;

COMMENT ON FUNCTION omd_delivery._model_changes IS
'Returns how the model document p_new differs from the document p_old, which may be NULL: the '
'object, the change in words, the property and its values, in the order of the model. Locks: none.';
