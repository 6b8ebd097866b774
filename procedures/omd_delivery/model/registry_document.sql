-- The facts generate their tables from it. A document and not the tables: no room reads the tables
-- of another one.

CREATE OR REPLACE FUNCTION omd_delivery.registry_document(
    p_interface_code text
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $registry_document$
BEGIN
    RETURN (
        SELECT
            jsonb_build_object(
                'interface_id', i.interface_id,
                'interface_code', i.interface_code,
                'model_version', i.model_version,
                'facts', i.facts,
                'entities', (
                    SELECT
                        jsonb_agg(
                            jsonb_build_object(
                                'entity_id', e.entity_id,
                                'entity_code', e.entity_code,
                                'is_retired', e.is_retired,
                                'facts', coalesce(e.facts, '{}'),
                                'attributes', (
                                    SELECT
                                        jsonb_agg(
                                            jsonb_build_object(
                                                'attribute_code', a.attribute_code,
                                                'ordinal', a.ordinal,
                                                'data_type', a.data_type,
                                                'is_mandatory', a.is_mandatory,
                                                'key_position', a.key_position,
                                                'is_retired', a.is_retired
                                            )
                                            ORDER BY a.ordinal
                                        )
                                    FROM omd_delivery.attribute AS a
                                    WHERE a.entity_id = e.entity_id
                                ),
                                'alternate_keys', (
                                    SELECT coalesce(jsonb_agg(k.item ORDER BY k.id), '[]')
                                    FROM (
                                        SELECT
                                            ak.alternate_key_id AS id,
                                            jsonb_build_object(
                                                'name', ak.alternate_key_code,
                                                'attributes',
                                                jsonb_agg(a.attribute_code ORDER BY m.position)
                                            ) AS item
                                        FROM omd_delivery.alternate_key AS ak
                                        INNER JOIN omd_delivery.alternate_key_attribute AS m
                                            USING (alternate_key_id)
                                        INNER JOIN omd_delivery.attribute AS a
                                            USING (attribute_id)
                                        WHERE ak.entity_id = e.entity_id AND NOT ak.is_retired
                                        GROUP BY ak.alternate_key_id
                                    ) AS k
                                ),
                                'relationships', (
                                    SELECT coalesce(jsonb_agg(k.item ORDER BY k.id), '[]')
                                    FROM (
                                        SELECT
                                            r.relationship_id AS id,
                                            jsonb_build_object(
                                                'name', r.relationship_code,
                                                'parent_entity_id', r.parent_entity_id,
                                                'columns',
                                                jsonb_agg(a.attribute_code ORDER BY m.position)
                                            ) AS item
                                        FROM omd_delivery.relationship AS r
                                        INNER JOIN omd_delivery.relationship_column AS m
                                            USING (relationship_id)
                                        INNER JOIN omd_delivery.attribute AS a
                                            ON m.child_attribute_id = a.attribute_id
                                        WHERE r.child_entity_id = e.entity_id
                                            AND NOT r.is_retired
                                        GROUP BY r.relationship_id
                                    ) AS k
                                )
                            )
                            ORDER BY e.ordinal, e.entity_id
                        )
                    FROM omd_delivery.entity AS e
                    WHERE e.interface_id = i.interface_id
                )
            )
        FROM omd_delivery.interface AS i
        WHERE i.interface_code = p_interface_code
    );
END
$registry_document$;

COMMENT ON FUNCTION omd_delivery.registry_document IS
'For rooms: Returns the registry of the interface p_interface_code as a document; NULL when it '
'has no model. Locks: none.';
