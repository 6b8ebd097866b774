-- Spark compiles the plan, and decides nothing.

CREATE OR REPLACE FUNCTION omd_delivery.validation_plan(
    p_delivery_id bigint,
    p_stage integer
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $validation_plan$
DECLARE
    v_delivery omd_delivery.delivery;
BEGIN
    p_stage := omd.require_argument('p_stage', p_stage);
    IF p_stage NOT IN (1, 2) THEN
        PERFORM omd_delivery._raise_argument('p_stage', p_stage::text, 'it must be 1 or 2');
    END IF;
    v_delivery := omd_delivery._require_delivery(p_delivery_id);
    IF v_delivery.attempt = 0 THEN
        PERFORM omd.raise_error(
            'OM130',
            jsonb_build_object(
                'delivery_id', p_delivery_id,
                'delivery_status', v_delivery.delivery_status,
                'action', 'be validated before it has begun',
                'next_command', format(
                    'SELECT * FROM omd_delivery.delivery_event WHERE delivery_id = %s;',
                    p_delivery_id
                )
            )
        );
    END IF;
    RETURN (
        SELECT
            jsonb_build_object(
                'delivery_id', d.delivery_id,
                'attempt', d.attempt,
                'stage', p_stage,
                'interface', i.interface_code,
                'agreement', a.agreement_code,
                'model_version', d.model_version,
                'snapshot_datetime', d.snapshot_datetime,
                'delete_type', d.delete_type,
                'include_existing', d.include_existing,
                'staging_schema', a.staging_schema,
                'options', jsonb_build_object(
                    'max_concurrent_entities', 2, 'max_sample_size', 1000
                ) || d.options,
                'context', d.context,
                'lvl_tables', (
                    SELECT
                        jsonb_object_agg(
                            e.entity_code, format('%s.%s', i.lvl_schema, e.entity_code)
                        )
                    FROM omd_delivery.entity AS e
                    WHERE e.interface_id = d.interface_id AND NOT e.is_retired
                ),
                'entities', (
                    SELECT
                        jsonb_agg(
                            omd_delivery._entity_plan(r.entity_id)
                            || jsonb_build_object(
                                'load', r.load_type,
                                'module_instance_id', de.module_instance_id,
                                'rows_announced', de.rows_announced,
                                'context', CASE
                                    WHEN x.entity_id IS NOT NULL THEN jsonb_build_object(
                                        'kind', x.context_kind,
                                        'named', x.named,
                                        'filters', x.filters
                                    )
                                END,
                                'constraints', (
                                    SELECT
                                        coalesce(
                                            jsonb_agg(
                                                jsonb_strip_nulls(
                                                    jsonb_build_object(
                                                        'constraint', m.constraint_code,
                                                        'type', m.constraint_type,
                                                        'action',
                                                        omd_delivery._action_name(c.action),
                                                        'expression', m.expression,
                                                        'spark_expression', m.spark_expression,
                                                        'attribute', at.attribute_code,
                                                        'alternate_key', k.alternate_key_code,
                                                        'relationship', rl.relationship_code,
                                                        'child', rc.entity_code,
                                                        'parent', rp.entity_code
                                                    )
                                                )
                                                ORDER BY m.ordinal, m.constraint_id
                                            ),
                                            '[]'
                                        )
                                    FROM omd_delivery.constraint_result AS c
                                    INNER JOIN omd_delivery.model_constraint AS m
                                        USING (constraint_id)
                                    LEFT JOIN omd_delivery.attribute AS at USING (attribute_id)
                                    LEFT JOIN omd_delivery.alternate_key AS k
                                        USING (alternate_key_id)
                                    LEFT JOIN omd_delivery.relationship AS rl
                                        USING (relationship_id)
                                    LEFT JOIN omd_delivery.entity AS rc
                                        ON rl.child_entity_id = rc.entity_id
                                    LEFT JOIN omd_delivery.entity AS rp
                                        ON rl.parent_entity_id = rp.entity_id
                                    WHERE c.delivery_id = d.delivery_id
                                        AND c.attempt = d.attempt
                                        AND c.stage = p_stage
                                        AND m.entity_id = r.entity_id
                                )
                            )
                            ORDER BY r.load_type IS NULL, x.place, e.ordinal
                        )
                    FROM omd_delivery.entity_result AS r
                    INNER JOIN omd_delivery.entity AS e USING (entity_id)
                    LEFT JOIN omd_delivery.delivery_entity AS de USING (delivery_id, entity_id)
                    LEFT JOIN omd_delivery._contexts(d.delivery_id) AS x USING (entity_id)
                    WHERE r.delivery_id = d.delivery_id
                        AND r.attempt = d.attempt
                        AND r.stage = p_stage
                )
            )
        FROM omd_delivery.delivery AS d
        INNER JOIN omd_delivery.agreement AS a USING (agreement_id)
        INNER JOIN omd_delivery.interface AS i ON d.interface_id = i.interface_id
        WHERE d.delivery_id = p_delivery_id
    );
END
$validation_plan$;

COMMENT ON FUNCTION omd_delivery.validation_plan IS
'For programs: '
'Returns what the newest run of the delivery p_delivery_id has to validate in the stage p_stage, '
'as JSON: how it was created, and entities, each with load, key, attributes, relationships, '
'context (kind ALL, FILTERED, KEYS, NAMED; the keys named; the filters) and constraints '
'(constraint, type, action, …). In stage 2 entities that are not delivered have load null and '
'only what the delivery may break. Errors: OM005: an argument is NULL; OM034: there is no such '
'delivery; OM036: p_stage is not 1 or 2; OM130: it has not begun. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_delivery.validation_plan TO omd_reader;
