-- Paths count from 0, as programs that read the document do.

CREATE OR REPLACE FUNCTION omd_delivery._model_nodes(
    p_model jsonb
)
RETURNS TABLE (
    level text,
    path text,
    entity_code text,
    ordinal integer,
    node jsonb
)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH entity AS (
        SELECT
            format('entities[%s]', i.ordinal - 1) AS path,
            omd_delivery._text(i.item, 'name') AS entity_code,
            i.ordinal::integer AS n,
            i.item
        FROM omd.json_items(p_model -> 'entities') AS i
    )

    SELECT
        'model' AS level,
        '' AS path,
        NULL::text AS entity_code,
        1 AS ordinal,
        p_model AS node
    UNION ALL
    SELECT
        'entity' AS level,
        e.path,
        e.entity_code,
        e.n AS ordinal,
        e.item AS node
    FROM entity AS e
    UNION ALL
    SELECT
        l.level,
        format('%s.%s[%s]', e.path, l.key, i.ordinal - 1) AS path,
        e.entity_code,
        i.ordinal::integer AS ordinal,
        i.item AS node
    FROM entity AS e
    CROSS JOIN (
        VALUES
        ('attribute', 'attributes'),
        ('alternate_key', 'alternate_keys'),
        ('relationship', 'relationships'),
        ('constraint', 'constraints')
    ) AS l (level, key)
    CROSS JOIN LATERAL omd.json_items(e.item -> l.key) AS i
    UNION ALL
    SELECT
        l.level,
        format('%s.%s', e.path, l.level) AS path,
        e.entity_code,
        1 AS ordinal,
        e.item -> l.level AS node
    FROM entity AS e
    CROSS JOIN (VALUES ('indicator'), ('derived')) AS l (level)
    WHERE jsonb_typeof(e.item -> l.level) = 'object'
    UNION ALL
    SELECT
        'setting' AS level,
        format('settings[%s]', to_jsonb(s.key)) AS path,
        NULL AS entity_code,
        1 AS ordinal,
        s.value AS node
    FROM
        jsonb_each(
            CASE
                WHEN jsonb_typeof(p_model -> 'settings') = 'object' THEN p_model -> 'settings'
                ELSE '{}'
            END
        ) AS s;
END;

COMMENT ON FUNCTION omd_delivery._model_nodes IS
'Returns the objects in the model document p_model, whatever it is, with their levels, their '
'paths, the entity that each is in and its place there. Locks: none.';
