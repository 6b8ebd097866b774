-- The attributes of a key and the columns of a relationship may become others under the same name,
-- so they are written anew each time.

CREATE OR REPLACE PROCEDURE omd_delivery._write_keys(
    p_interface_id integer,
    p_model jsonb
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $write_keys$
BEGIN
    UPDATE omd_delivery.alternate_key AS k
    SET is_retired = TRUE
    FROM omd_delivery.entity AS e
    WHERE k.entity_id = e.entity_id AND e.interface_id = p_interface_id AND NOT e.is_retired;
    INSERT INTO omd_delivery.alternate_key AS t (entity_id, alternate_key_code, is_retired)
    SELECT
        e.entity_id,
        o.object_code,
        FALSE
    FROM omd_delivery._model_objects(p_model) AS o
    INNER JOIN omd_delivery.entity AS e
        ON e.interface_id = p_interface_id AND o.entity_code = e.entity_code
    WHERE o.kind = 'alternate_key'
    ORDER BY e.ordinal, o.ordinal
    ON CONFLICT (entity_id, alternate_key_code) DO UPDATE SET is_retired = excluded.is_retired;
    DELETE FROM omd_delivery.alternate_key_attribute AS m
    USING omd_delivery.alternate_key AS k
    INNER JOIN omd_delivery.entity AS e USING (entity_id)
    WHERE m.alternate_key_id = k.alternate_key_id
        AND e.interface_id = p_interface_id
        AND NOT k.is_retired;
    INSERT INTO omd_delivery.alternate_key_attribute (alternate_key_id, position, attribute_id)
    SELECT
        k.alternate_key_id,
        c.n,
        a.attribute_id
    FROM omd_delivery._model_objects(p_model) AS o
    INNER JOIN omd_delivery.entity AS e
        ON e.interface_id = p_interface_id AND o.entity_code = e.entity_code
    INNER JOIN omd_delivery.alternate_key AS k
        ON e.entity_id = k.entity_id AND o.object_code = k.alternate_key_code
    CROSS JOIN LATERAL unnest(omd_delivery._names(o.definition -> 'attributes'))
        WITH ORDINALITY AS c (code, n)
    INNER JOIN omd_delivery.attribute AS a
        ON e.entity_id = a.entity_id AND c.code = a.attribute_code
    WHERE o.kind = 'alternate_key';

    UPDATE omd_delivery.relationship AS r
    SET is_retired = TRUE
    FROM omd_delivery.entity AS e
    WHERE r.child_entity_id = e.entity_id AND e.interface_id = p_interface_id AND NOT e.is_retired;
    INSERT INTO omd_delivery.relationship AS t (
        relationship_code, child_entity_id, parent_entity_id, is_dependent, has_context_filter,
        is_child_required, is_retired
    )
    SELECT
        o.object_code,
        e.entity_id,
        p.entity_id,
        (o.definition -> 'dependent')::boolean,
        (o.definition -> 'context_filter')::boolean,
        (o.definition -> 'child_required')::boolean,
        FALSE
    FROM omd_delivery._model_objects(p_model) AS o
    INNER JOIN omd_delivery.entity AS e
        ON e.interface_id = p_interface_id AND o.entity_code = e.entity_code
    INNER JOIN omd_delivery.entity AS p
        ON p.interface_id = p_interface_id AND o.definition ->> 'parent' = p.entity_code
    WHERE o.kind = 'relationship'
    ORDER BY e.ordinal, o.ordinal
    ON CONFLICT (child_entity_id, relationship_code) DO UPDATE SET
        parent_entity_id = excluded.parent_entity_id,
        is_dependent = excluded.is_dependent,
        has_context_filter = excluded.has_context_filter,
        is_child_required = excluded.is_child_required,
        is_retired = excluded.is_retired;
    DELETE FROM omd_delivery.relationship_column AS m
    USING omd_delivery.relationship AS r
    INNER JOIN omd_delivery.entity AS e ON r.child_entity_id = e.entity_id
    WHERE m.relationship_id = r.relationship_id
        AND e.interface_id = p_interface_id
        AND NOT r.is_retired;
    INSERT INTO omd_delivery.relationship_column (
        relationship_id, position, child_attribute_id, parent_attribute_id
    )
    SELECT
        r.relationship_id,
        c.n,
        a.attribute_id,
        k.attribute_id
    FROM omd_delivery._model_objects(p_model) AS o
    INNER JOIN omd_delivery.entity AS e
        ON e.interface_id = p_interface_id AND o.entity_code = e.entity_code
    INNER JOIN omd_delivery.relationship AS r
        ON e.entity_id = r.child_entity_id AND o.object_code = r.relationship_code
    CROSS JOIN LATERAL unnest(omd_delivery._names(o.definition -> 'columns'))
        WITH ORDINALITY AS c (code, n)
    INNER JOIN omd_delivery.attribute AS a
        ON e.entity_id = a.entity_id AND c.code = a.attribute_code
    INNER JOIN omd_delivery.attribute AS k
        ON r.parent_entity_id = k.entity_id AND c.n = k.key_position
    WHERE o.kind = 'relationship';
END
$write_keys$;

COMMENT ON PROCEDURE omd_delivery._write_keys IS
'Brings the alternate keys and relationships of the interface p_interface_id to the model document'
' p_model, after its entities and attributes. Locks: the rows of the registry.';
