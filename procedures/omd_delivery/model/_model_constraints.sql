-- Most constraints follow from what the model says of an entity, so a document does not name them.

CREATE OR REPLACE FUNCTION omd_delivery._model_constraints(
    p_model jsonb
)
RETURNS TABLE (
    entity_code text,
    constraint_code text,
    constraint_type text,
    attribute_code text,
    alternate_key_code text,
    child_code text,
    relationship_code text,
    column_codes text[],
    expression text,
    path text,
    ordinal bigint
)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH object AS MATERIALIZED (
        SELECT o.* FROM omd_delivery._model_objects(p_model) AS o
    ),

    entity AS (
        SELECT
            o.*,
            omd_delivery._names(o.definition -> 'key') AS key_codes
        FROM object AS o
        WHERE o.kind = 'entity'
    ),

    found AS (
        SELECT
            e.entity_code,
            format('%s.%s', e.entity_code, f.constraint_type) AS constraint_code,
            f.constraint_type,
            NULL::text AS attribute_code,
            NULL::text AS alternate_key_code,
            NULL::text AS child_code,
            NULL::text AS relationship_code,
            '{}'::text[] AS column_codes,
            NULL::text AS expression,
            e.path,
            f.place,
            0 AS n
        FROM entity AS e
        CROSS JOIN (
            VALUES
            ('columns', 1),
            ('row_count', 2),
            ('row_format', 3),
            ('primary_key', 8),
            ('context', 13),
            ('deletes', 14)
        ) AS f (constraint_type, place)
        UNION ALL
        SELECT
            o.entity_code,
            format('%s.%s.%s', o.entity_code, o.object_code, f.constraint_type) AS constraint_code,
            f.constraint_type,
            o.object_code,
            NULL AS alternate_key_code,
            NULL AS child_code,
            NULL AS relationship_code,
            ARRAY[o.object_code] AS column_codes,
            NULL AS expression,
            o.path,
            f.place,
            o.ordinal
        FROM object AS o
        INNER JOIN entity AS e ON o.entity_code = e.entity_code
        CROSS JOIN (
            VALUES ('datatype', 4), ('mandatory', 5), ('enumeration', 6)
        ) AS f (constraint_type, place)
        WHERE
            o.kind = 'attribute'
            AND NOT (o.definition -> 'retired')::boolean
            AND CASE f.constraint_type
                WHEN 'datatype' THEN TRUE
                WHEN 'mandatory'
                    THEN
                        (o.definition -> 'mandatory')::boolean
                        AND o.object_code <> all(e.key_codes)
                ELSE jsonb_typeof(o.definition -> 'values') = 'array'
            END
        UNION ALL
        SELECT
            o.entity_code,
            format('%s.%s', o.entity_code, o.object_code) AS constraint_code,
            o.definition ->> 'type' AS constraint_type,
            o.definition ->> 'attribute' AS attribute_code,
            NULL AS alternate_key_code,
            NULL AS child_code,
            NULL AS relationship_code,
            CASE
                WHEN o.definition ->> 'type' = 'value' THEN ARRAY[o.definition ->> 'attribute']
                ELSE '{}'
            END AS column_codes,
            coalesce(o.definition ->> 'check', o.definition ->> 'query') AS expression,
            o.path,
            7 AS place,
            o.ordinal
        FROM object AS o
        WHERE o.kind = 'constraint'
        UNION ALL
        SELECT
            o.entity_code,
            format('%s.%s', o.entity_code, o.object_code) AS constraint_code,
            'alternate_key' AS constraint_type,
            NULL AS attribute_code,
            o.object_code,
            NULL AS child_code,
            NULL AS relationship_code,
            omd_delivery._names(o.definition -> 'attributes') AS column_codes,
            NULL AS expression,
            o.path,
            9 AS place,
            o.ordinal
        FROM object AS o
        WHERE o.kind = 'alternate_key'
        UNION ALL
        SELECT
            o.entity_code,
            format('%s.%s', o.entity_code, o.object_code) AS constraint_code,
            'parent_exists' AS constraint_type,
            NULL AS attribute_code,
            NULL AS alternate_key_code,
            o.entity_code AS child_code,
            o.object_code AS relationship_code,
            omd_delivery._names(o.definition -> 'columns') AS column_codes,
            NULL AS expression,
            o.path,
            10 AS place,
            o.ordinal
        FROM object AS o
        WHERE o.kind = 'relationship'
        UNION ALL
        SELECT
            o.definition ->> 'parent' AS entity_code,
            format(
                '%s.%s.%s', o.definition ->> 'parent', o.entity_code, o.object_code
            ) AS constraint_code,
            'child_exists' AS constraint_type,
            NULL AS attribute_code,
            NULL AS alternate_key_code,
            o.entity_code AS child_code,
            o.object_code AS relationship_code,
            '{}' AS column_codes,
            NULL AS expression,
            o.path,
            11 AS place,
            o.ordinal
        FROM object AS o
        WHERE o.kind = 'relationship' AND (o.definition -> 'child_required')::boolean
    )

    SELECT
        f.entity_code,
        f.constraint_code,
        f.constraint_type,
        f.attribute_code,
        f.alternate_key_code,
        f.child_code,
        f.relationship_code,
        f.column_codes,
        f.expression,
        f.path,
        row_number() OVER (
            PARTITION BY f.entity_code ORDER BY f.place, f.n, f.path
        ) AS ordinal
    FROM found AS f;
END;

COMMENT ON FUNCTION omd_delivery._model_constraints IS
'Returns the constraints of the model document p_model: those that it names, and those that follow'
' from it. column_codes: the attributes that EMPTY COLUMN would empty. Locks: none.';
