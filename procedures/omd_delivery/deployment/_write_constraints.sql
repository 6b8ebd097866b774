-- A constraint keeps its id under its code, also when it is of another type than before.

CREATE OR REPLACE PROCEDURE omd_delivery._write_constraints(
    p_interface_id integer,
    p_model jsonb
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $write_constraints$
BEGIN
    UPDATE omd_delivery.model_constraint AS c
    SET is_retired = TRUE
    FROM omd_delivery.entity AS e
    WHERE c.entity_id = e.entity_id
        AND e.interface_id = p_interface_id
        -- Those of an entity that is left out stay with it.
        AND EXISTS (
            SELECT FROM omd_delivery._model_objects(p_model) AS o
            WHERE o.kind = 'entity' AND o.object_code = e.entity_code
        );
    INSERT INTO omd_delivery.model_constraint AS t (
        entity_id, constraint_code, constraint_type, stage, expression, spark_expression,
        attribute_id, alternate_key_id, relationship_id, ordinal, is_retired
    )
    SELECT
        e.entity_id,
        c.constraint_code,
        c.constraint_type,
        y.stage,
        c.expression,
        CASE
            WHEN c.constraint_type IN ('value', 'record') THEN omd_delivery._spark_check(
                c.expression,
                (
                    SELECT jsonb_object_agg(a.attribute_code, a.data_type)
                    FROM omd_delivery.attribute AS a
                    WHERE a.entity_id = e.entity_id
                )
            )
        END,
        a.attribute_id,
        k.alternate_key_id,
        r.relationship_id,
        c.ordinal,
        FALSE
    FROM omd_delivery._model_constraints(p_model) AS c
    INNER JOIN omd_delivery.constraint_type AS y USING (constraint_type)
    INNER JOIN omd_delivery.entity AS e
        ON e.interface_id = p_interface_id AND c.entity_code = e.entity_code
    LEFT JOIN omd_delivery.attribute AS a
        ON e.entity_id = a.entity_id AND c.attribute_code = a.attribute_code
    LEFT JOIN omd_delivery.alternate_key AS k
        ON e.entity_id = k.entity_id AND c.alternate_key_code = k.alternate_key_code
    LEFT JOIN omd_delivery.entity AS h
        ON h.interface_id = p_interface_id AND c.child_code = h.entity_code
    LEFT JOIN omd_delivery.relationship AS r
        ON h.entity_id = r.child_entity_id AND c.relationship_code = r.relationship_code
    ORDER BY e.ordinal, c.ordinal
    ON CONFLICT (entity_id, constraint_code) DO UPDATE SET
        constraint_type = excluded.constraint_type,
        stage = excluded.stage,
        expression = excluded.expression,
        spark_expression = excluded.spark_expression,
        attribute_id = excluded.attribute_id,
        alternate_key_id = excluded.alternate_key_id,
        relationship_id = excluded.relationship_id,
        ordinal = excluded.ordinal,
        is_retired = excluded.is_retired;

    DELETE FROM omd_delivery.constraint_setting AS s
    USING omd_delivery.model_constraint AS c
    INNER JOIN omd_delivery.entity AS e USING (entity_id)
    WHERE s.constraint_id = c.constraint_id AND e.interface_id = p_interface_id;
    INSERT INTO omd_delivery.constraint_setting (constraint_id, setting)
    SELECT
        c.constraint_id,
        o.definition
    FROM omd_delivery._model_objects(p_model) AS o
    INNER JOIN omd_delivery.model_constraint AS c ON o.object_code = c.constraint_code
    INNER JOIN omd_delivery.entity AS e USING (entity_id)
    WHERE o.kind = 'setting' AND e.interface_id = p_interface_id;
END
$write_constraints$;

COMMENT ON PROCEDURE omd_delivery._write_constraints IS
'Brings the constraints of the interface p_interface_id and what is set for them to the model '
'document p_model, after its keys. Locks: the rows of the registry.';
