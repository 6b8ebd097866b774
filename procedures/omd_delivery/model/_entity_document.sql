-- One entity of a document; the default of each key is that of _model_objects.

CREATE OR REPLACE FUNCTION omd_delivery._entity_document(
    p_entity_id integer
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
BEGIN ATOMIC
    SELECT
        omd_delivery._without_nulls(
            jsonb_build_object(
                'name', e.entity_code,
                'key', (
                    SELECT jsonb_agg(a.attribute_code ORDER BY a.key_position)
                    FROM omd_delivery.attribute AS a
                    WHERE a.entity_id = e.entity_id AND a.key_position IS NOT NULL
                ),
                'attributes', (
                    SELECT
                        jsonb_agg(
                            omd_delivery._without_nulls(
                                jsonb_build_object(
                                    'name', a.attribute_code,
                                    'type', regexp_replace(
                                        regexp_replace(
                                            a.data_type, '^character varying', 'text'
                                        ),
                                        '^(timestamp)(?: without time zone|( with time zone))$',
                                        CASE WHEN a.data_type ~ ' with ' THEN '\1tz' ELSE '\1' END
                                    ),
                                    'mandatory', nullif(a.is_mandatory, FALSE),
                                    'values', a.value_list,
                                    'source', nullif(a.source_column, a.attribute_code),
                                    'computed', a.computed,
                                    'format', a.format,
                                    'retired', nullif(a.is_retired, FALSE),
                                    'facts', a.facts
                                )
                            )
                            ORDER BY a.ordinal
                        )
                    FROM omd_delivery.attribute AS a
                    WHERE a.entity_id = e.entity_id
                ),
                'alternate_keys', (
                    SELECT
                        jsonb_agg(
                            jsonb_build_object(
                                'name', k.alternate_key_code,
                                'attributes', (
                                    SELECT jsonb_agg(a.attribute_code ORDER BY m.position)
                                    FROM omd_delivery.alternate_key_attribute AS m
                                    INNER JOIN
                                        omd_delivery.attribute AS a
                                        ON m.attribute_id = a.attribute_id
                                    WHERE m.alternate_key_id = k.alternate_key_id
                                )
                            )
                            ORDER BY k.alternate_key_id
                        )
                    FROM omd_delivery.alternate_key AS k
                    WHERE k.entity_id = e.entity_id AND NOT k.is_retired
                ),
                'relationships', (
                    SELECT
                        jsonb_agg(
                            omd_delivery._without_nulls(
                                jsonb_build_object(
                                    'name', r.relationship_code,
                                    'parent', p.entity_code,
                                    'columns', (
                                        SELECT jsonb_agg(a.attribute_code ORDER BY m.position)
                                        FROM omd_delivery.relationship_column AS m
                                        INNER JOIN omd_delivery.attribute AS a
                                            ON m.child_attribute_id = a.attribute_id
                                        WHERE m.relationship_id = r.relationship_id
                                    ),
                                    'context_filter', nullif(
                                        r.has_context_filter, r.is_dependent
                                    ),
                                    'child_required', nullif(r.is_child_required, FALSE)
                                )
                            )
                            ORDER BY r.relationship_id
                        )
                    FROM omd_delivery.relationship AS r
                    INNER JOIN omd_delivery.entity AS p ON r.parent_entity_id = p.entity_id
                    WHERE r.child_entity_id = e.entity_id AND NOT r.is_retired
                ),
                'constraints', (
                    SELECT
                        jsonb_agg(
                            omd_delivery._without_nulls(
                                jsonb_build_object(
                                    'name', split_part(c.constraint_code, '.', 2),
                                    'type', c.constraint_type,
                                    'attribute', a.attribute_code,
                                    CASE c.constraint_type WHEN 'set' THEN 'query' ELSE 'check' END,
                                    c.expression
                                )
                            )
                            ORDER BY c.ordinal
                        )
                    FROM omd_delivery.model_constraint AS c
                    LEFT JOIN omd_delivery.attribute AS a ON c.attribute_id = a.attribute_id
                    WHERE
                        c.entity_id = e.entity_id
                        AND c.expression IS NOT NULL
                        AND NOT c.is_retired
                ),
                'indicator', nullif(
                    omd_delivery._without_nulls(
                        jsonb_build_object(
                            'column', nullif(e.indicator_column, 'acm_source_transaction_ind'),
                            'delete', nullif(e.indicator_delete, 'D')
                        )
                    ),
                    '{}'
                ),
                'derived', CASE
                    WHEN e.is_derived THEN jsonb_build_object(
                        'from', e.derived_from, 'query', e.derived_query
                    )
                END,
                'retired', nullif(e.is_retired, FALSE),
                'facts', e.facts
            )
        )
    FROM omd_delivery.entity AS e
    WHERE e.entity_id = p_entity_id;
END;

COMMENT ON FUNCTION omd_delivery._entity_document IS
'Returns the entity p_entity_id as the model document has it. Locks: none.';
