-- Ids are stable for ever, so every row is found by its codes, and what the model leaves out is
-- retired.

CREATE OR REPLACE PROCEDURE omd_delivery._write_registry(
    p_interface_id integer,
    p_model jsonb
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $write_registry$
BEGIN
    INSERT INTO omd_delivery.entity AS t (
        interface_id, entity_code, ordinal, is_derived, is_retired, indicator_column,
        indicator_delete, derived_from, derived_query, facts
    )
    SELECT
        p_interface_id,
        o.object_code,
        coalesce(x.ordinal, m.last + o.ordinal),
        jsonb_typeof(o.definition -> 'derived') = 'object',
        (o.definition -> 'retired')::boolean,
        o.definition -> 'indicator' ->> 'column',
        o.definition -> 'indicator' ->> 'delete',
        CASE
            WHEN jsonb_typeof(o.definition -> 'derived') = 'object'
                THEN omd_delivery._names(o.definition -> 'derived' -> 'from')
        END,
        o.definition -> 'derived' ->> 'query',
        nullif(o.definition -> 'facts', 'null')
    FROM omd_delivery._model_objects(p_model) AS o
    LEFT JOIN omd_delivery.entity AS x
        ON x.interface_id = p_interface_id AND o.object_code = x.entity_code
    CROSS JOIN (
        SELECT coalesce(max(e.ordinal), 0) AS last
        FROM omd_delivery.entity AS e
        WHERE e.interface_id = p_interface_id
    ) AS m
    WHERE o.kind = 'entity'
    ORDER BY o.ordinal
    ON CONFLICT (interface_id, entity_code) DO UPDATE SET
        is_derived = excluded.is_derived,
        is_retired = excluded.is_retired,
        indicator_column = excluded.indicator_column,
        indicator_delete = excluded.indicator_delete,
        derived_from = excluded.derived_from,
        derived_query = excluded.derived_query,
        facts = excluded.facts;
    UPDATE omd_delivery.entity AS e
    SET is_retired = TRUE
    WHERE e.interface_id = p_interface_id
        AND NOT EXISTS (
            SELECT FROM omd_delivery._model_objects(p_model) AS o
            WHERE o.kind = 'entity' AND o.object_code = e.entity_code
        );

    UPDATE omd_delivery.attribute AS a
    SET
        is_retired = TRUE,
        key_position = NULL
    FROM omd_delivery._model_objects(p_model) AS e
    INNER JOIN omd_delivery.entity AS t
        ON t.interface_id = p_interface_id AND e.object_code = t.entity_code
    WHERE e.kind = 'entity'
        AND a.entity_id = t.entity_id
        AND NOT EXISTS (
            SELECT FROM omd_delivery._model_objects(p_model) AS o
            WHERE o.kind = 'attribute'
                AND o.entity_code = t.entity_code
                AND o.object_code = a.attribute_code
        );
    INSERT INTO omd_delivery.attribute AS t (
        entity_id, attribute_code, ordinal, data_type, is_mandatory, key_position, is_retired,
        source_column, computed, format, value_list, facts
    )
    SELECT
        e.entity_id,
        o.object_code,
        coalesce(x.ordinal, m.last + o.ordinal),
        o.definition ->> 'type',
        (o.definition -> 'mandatory')::boolean,
        array_position(omd_delivery._names(k.definition -> 'key'), o.object_code),
        (o.definition -> 'retired')::boolean,
        o.definition ->> 'source',
        o.definition ->> 'computed',
        o.definition ->> 'format',
        nullif(o.definition -> 'values', 'null'),
        nullif(o.definition -> 'facts', 'null')
    FROM omd_delivery._model_objects(p_model) AS o
    INNER JOIN omd_delivery._model_objects(p_model) AS k
        ON k.kind = 'entity' AND o.entity_code = k.object_code
    INNER JOIN omd_delivery.entity AS e
        ON e.interface_id = p_interface_id AND o.entity_code = e.entity_code
    LEFT JOIN omd_delivery.attribute AS x
        ON e.entity_id = x.entity_id AND o.object_code = x.attribute_code
    CROSS JOIN LATERAL (
        SELECT coalesce(max(a.ordinal), 0) AS last
        FROM omd_delivery.attribute AS a
        WHERE a.entity_id = e.entity_id
    ) AS m
    WHERE o.kind = 'attribute'
    ORDER BY e.ordinal, o.ordinal
    ON CONFLICT (entity_id, attribute_code) DO UPDATE SET
        data_type = excluded.data_type,
        is_mandatory = excluded.is_mandatory,
        key_position = excluded.key_position,
        is_retired = excluded.is_retired,
        source_column = excluded.source_column,
        computed = excluded.computed,
        format = excluded.format,
        value_list = excluded.value_list,
        facts = excluded.facts;
    CALL omd_delivery._write_keys(p_interface_id, p_model);
    CALL omd_delivery._write_constraints(p_interface_id, p_model);
END
$write_registry$;

COMMENT ON PROCEDURE omd_delivery._write_registry IS
'Brings the registry of the interface p_interface_id to the model document p_model. Locks: the '
'rows of the registry.';
