-- Spark reads no table of the registry: what it compiles stands in the plan.

CREATE OR REPLACE FUNCTION omd_delivery._entity_plan(
    p_entity_id integer
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $entity_plan$
BEGIN
    RETURN (
        SELECT
            jsonb_build_object(
                'entity', e.entity_code,
                'lvl_table', format('%s.%s', i.lvl_schema, e.entity_code),
                'delta_table', format('%s.delta_%s', i.work_schema, e.entity_code),
                'key', (
                    SELECT jsonb_agg(a.attribute_code ORDER BY a.key_position)
                    FROM omd_delivery.attribute AS a
                    WHERE a.entity_id = e.entity_id AND a.key_position IS NOT NULL
                ),
                'attributes', (
                    SELECT
                        jsonb_agg(
                            jsonb_strip_nulls(
                                jsonb_build_object(
                                    'name', a.attribute_code,
                                    'type', a.data_type,
                                    'ordinal', a.ordinal,
                                    'mandatory', a.is_mandatory,
                                    'source', a.source_column,
                                    'computed', a.computed,
                                    'format', a.format,
                                    'values', a.value_list
                                )
                            )
                            ORDER BY a.ordinal
                        )
                    FROM omd_delivery.attribute AS a
                    WHERE a.entity_id = e.entity_id AND NOT a.is_retired
                ),
                'alternate_keys', (
                    SELECT
                        coalesce(
                            jsonb_agg(
                                jsonb_build_object(
                                    'name', k.alternate_key_code,
                                    'attributes', (
                                        SELECT
                                            jsonb_agg(a.attribute_code ORDER BY ka.position)
                                        FROM omd_delivery.alternate_key_attribute AS ka
                                        INNER JOIN omd_delivery.attribute AS a USING (attribute_id)
                                        WHERE ka.alternate_key_id = k.alternate_key_id
                                    )
                                )
                                ORDER BY k.alternate_key_id
                            ),
                            '[]'
                        )
                    FROM omd_delivery.alternate_key AS k
                    WHERE k.entity_id = e.entity_id AND NOT k.is_retired
                ),
                'relationships', (
                    SELECT
                        coalesce(
                            jsonb_agg(
                                jsonb_build_object(
                                    'name', r.relationship_code,
                                    'child', c.entity_code,
                                    'parent', p.entity_code,
                                    'columns', x.child_columns,
                                    'parent_columns', x.parent_columns,
                                    'dependent', r.is_dependent,
                                    'context_filter', r.has_context_filter,
                                    'child_required', r.is_child_required
                                )
                                ORDER BY r.relationship_id
                            ),
                            '[]'
                        )
                    FROM omd_delivery.relationship AS r
                    INNER JOIN omd_delivery.entity AS c ON r.child_entity_id = c.entity_id
                    INNER JOIN omd_delivery.entity AS p ON r.parent_entity_id = p.entity_id
                    CROSS JOIN LATERAL (
                        SELECT
                            jsonb_agg(ca.attribute_code ORDER BY rc.position) AS child_columns,
                            jsonb_agg(pa.attribute_code ORDER BY rc.position) AS parent_columns
                        FROM omd_delivery.relationship_column AS rc
                        INNER JOIN omd_delivery.attribute AS ca
                            ON rc.child_attribute_id = ca.attribute_id
                        INNER JOIN omd_delivery.attribute AS pa
                            ON rc.parent_attribute_id = pa.attribute_id
                        WHERE rc.relationship_id = r.relationship_id
                    ) AS x
                    WHERE e.entity_id IN (r.child_entity_id, r.parent_entity_id)
                        AND NOT r.is_retired
                ),
                'indicator', jsonb_build_object(
                    'column', e.indicator_column, 'delete', e.indicator_delete
                ),
                'derived', CASE
                    WHEN e.is_derived THEN jsonb_build_object(
                        'from', to_jsonb(e.derived_from), 'query', e.derived_query
                    )
                END
            )
        FROM omd_delivery.entity AS e
        INNER JOIN omd_delivery.interface AS i USING (interface_id)
        WHERE e.entity_id = p_entity_id
    );
END
$entity_plan$;

COMMENT ON FUNCTION omd_delivery._entity_plan IS
'Returns what a plan says of the entity p_entity_id, whatever is delivered: its tables, key, '
'attributes, alternate keys, and the relationships in which it is child or parent. Locks: none.';
