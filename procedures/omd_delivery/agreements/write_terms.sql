-- Rows that are written one by one are bound as those of a delivery are; a session that writes for
-- months follows the agreement as it is now.

CREATE OR REPLACE FUNCTION omd_delivery.write_terms(
    p_delivery_id bigint
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $write_terms$
BEGIN
    RETURN (
        SELECT
            jsonb_build_object(
                'agreement_code', a.agreement_code,
                'entity_ids', to_jsonb(a.entity_ids),
                'context', (
                    SELECT coalesce(jsonb_object_agg(e.entity_id, c.value), '{}')
                    FROM jsonb_each(a.context) AS c
                    INNER JOIN omd_delivery.entity AS e
                        ON e.interface_id = a.interface_id AND c.key = e.entity_code
                ),
                'filters', (
                    SELECT coalesce(jsonb_agg(r.item), '[]')
                    FROM (
                        SELECT
                            jsonb_build_object(
                                'relationship', r.relationship_code,
                                'child_entity_id', r.child_entity_id,
                                'parent_entity_id', r.parent_entity_id,
                                'columns', jsonb_object_agg(p.attribute_code, c.attribute_code)
                            ) AS item
                        FROM omd_delivery.entity AS e
                        INNER JOIN omd_delivery.relationship AS r
                            ON e.entity_id = r.child_entity_id
                        INNER JOIN omd_delivery.relationship_column AS m USING (relationship_id)
                        INNER JOIN omd_delivery.attribute AS c
                            ON m.child_attribute_id = c.attribute_id
                        INNER JOIN omd_delivery.attribute AS p
                            ON m.parent_attribute_id = p.attribute_id
                        WHERE e.interface_id = a.interface_id
                            AND r.has_context_filter
                            AND NOT r.is_retired
                        GROUP BY r.relationship_id
                    ) AS r
                )
            )
        FROM omd_delivery.delivery AS d
        INNER JOIN omd_delivery.agreement AS a USING (agreement_id)
        WHERE d.delivery_id = p_delivery_id
            AND (a.entity_ids IS NOT NULL OR a.context <> '{}')
    );
END
$write_terms$;

COMMENT ON FUNCTION omd_delivery.write_terms IS
'For rooms: Returns what the agreement of the delivery p_delivery_id names now: agreement_code, '
'entity_ids (null: all), context (keys by entity_id) and filters, the relationships through which '
'a context filters (child_entity_id, parent_entity_id, columns: the parent''s attribute and the '
'child''s); NULL when it names neither entities nor a context. Locks: none.';
