-- This is the normal form of a document: what it leaves out is filled in. Two documents mean the
-- same when their objects are equal, so the differences are found here and nowhere else.

CREATE OR REPLACE FUNCTION omd_delivery._model_objects(
    p_model jsonb
)
RETURNS TABLE (
    kind text,
    path text,
    entity_code text,
    object_code text,
    ordinal integer,
    definition jsonb
)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH node AS MATERIALIZED (
        SELECT
            n.*,
            omd_delivery._text(n.node, 'name') AS name
        FROM omd_delivery._model_nodes(p_model) AS n
        WHERE jsonb_typeof(n.node) = 'object'
    )

    SELECT
        'interface' AS kind,
        n.path,
        NULL AS entity_code,
        omd_delivery._text(n.node, 'interface') AS object_code,
        n.ordinal,
        jsonb_build_object('facts', n.node -> 'facts') AS definition
    FROM node AS n
    WHERE n.level = 'model'
    UNION ALL
    SELECT
        n.level AS kind,
        n.path,
        n.entity_code,
        n.name AS object_code,
        n.ordinal,
        jsonb_build_object(
            'key', omd_delivery._names(n.node -> 'key'),
            'indicator', jsonb_build_object(
                'column', coalesce(
                    omd_delivery._text(n.node -> 'indicator', 'column'),
                    'acm_source_transaction_ind'
                ),
                'delete', coalesce(omd_delivery._text(n.node -> 'indicator', 'delete'), 'D')
            ),
            'derived', CASE
                WHEN jsonb_typeof(n.node -> 'derived') = 'object' THEN jsonb_build_object(
                    'from', omd_delivery._names(n.node -> 'derived' -> 'from'),
                    'query', omd_delivery._text(n.node -> 'derived', 'query')
                )
            END,
            'retired', omd_delivery._flag(n.node, 'retired', FALSE),
            'facts', n.node -> 'facts'
        ) AS definition
    FROM node AS n
    WHERE n.level = 'entity'
    UNION ALL
    SELECT
        n.level AS kind,
        n.path,
        n.entity_code,
        n.name AS object_code,
        n.ordinal,
        jsonb_build_object(
            'type', omd_delivery._data_type(omd_delivery._text(n.node, 'type')),
            'mandatory', omd_delivery._flag(n.node, 'mandatory', FALSE),
            'source', CASE
                WHEN NOT n.node ? 'computed'
                    THEN coalesce(omd_delivery._text(n.node, 'source'), n.name)
            END,
            'computed', omd_delivery._text(n.node, 'computed'),
            'format', omd_delivery._text(n.node, 'format'),
            'values', n.node -> 'values',
            'retired', omd_delivery._flag(n.node, 'retired', FALSE),
            'facts', n.node -> 'facts'
        ) AS definition
    FROM node AS n
    WHERE n.level = 'attribute'
    UNION ALL
    SELECT
        n.level AS kind,
        n.path,
        n.entity_code,
        n.name AS object_code,
        n.ordinal,
        jsonb_build_object('attributes', omd_delivery._names(n.node -> 'attributes')) AS definition
    FROM node AS n
    WHERE n.level = 'alternate_key'
    UNION ALL
    SELECT
        n.level AS kind,
        n.path,
        n.entity_code,
        n.name AS object_code,
        n.ordinal,
        jsonb_build_object(
            'parent', omd_delivery._text(n.node, 'parent'),
            'columns', omd_delivery._names(n.node -> 'columns'),
            'dependent', d.is_dependent,
            'context_filter', omd_delivery._flag(n.node, 'context_filter', d.is_dependent),
            'child_required', omd_delivery._flag(n.node, 'child_required', FALSE)
        ) AS definition
    FROM node AS n
    CROSS JOIN
        LATERAL (
            SELECT
                omd_delivery._names(n.node -> 'columns') && omd_delivery._names(
                    p_model #> ARRAY[
                        'entities', substring(n.path FROM '^entities\[([0-9]+)\]'), 'key'
                    ]
                ) AS is_dependent
        ) AS d
    WHERE n.level = 'relationship'
    UNION ALL
    SELECT
        n.level AS kind,
        n.path,
        n.entity_code,
        n.name AS object_code,
        n.ordinal,
        jsonb_build_object(
            'type', omd_delivery._text(n.node, 'type'),
            'attribute', omd_delivery._text(n.node, 'attribute'),
            'check', omd_delivery._text(n.node, 'check'),
            'query', omd_delivery._text(n.node, 'query')
        ) AS definition
    FROM node AS n
    WHERE n.level = 'constraint'
    UNION ALL
    SELECT
        n.level AS kind,
        n.path,
        NULL AS entity_code,
        substring(n.path FROM '^settings\[(.*)\]$')::jsonb #>> '{}' AS object_code,
        n.ordinal,
        CASE
            WHEN n.node ? 'action'
                THEN
                    n.node || jsonb_build_object(
                        'action', omd_delivery._action_code(omd_delivery._text(n.node, 'action'))
                    )
            ELSE n.node
        END AS definition
    FROM node AS n
    WHERE n.level = 'setting' AND n.node <> '{}';
END;

COMMENT ON FUNCTION omd_delivery._model_objects IS
'Returns the objects that the model document p_model, whatever it is, describes: kind (interface, '
'entity, attribute, alternate_key, relationship, constraint, setting), path, entity, code, place '
'and definition with all that the document leaves out. Locks: none.';
