-- The checks of a run are those of the newest attempt of its delivery, which is the one whose
-- entity runs the delivery has.

CREATE OR REPLACE FUNCTION omd_delivery.described_runs(
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    snapshot_datetime timestamptz,
    staged_table text,
    staged_columns jsonb,
    checks jsonb
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        de.module_instance_id,
        d.snapshot_datetime,
        format('%I.%I', a.staging_schema, e.entity_code) AS staged_table,
        (
            SELECT jsonb_object_agg(t.attribute_code, t.source_column)
            FROM omd_delivery.attribute AS t
            WHERE
                t.entity_id = e.entity_id
                AND NOT t.is_retired
                AND t.source_column IS NOT NULL
        ) AS staged_columns,
        (
            SELECT
                jsonb_agg(
                    jsonb_build_object(
                        'constraint', m.constraint_code,
                        'type', m.constraint_type,
                        'column', coalesce(t.source_column, t.attribute_code),
                        'content', m.expression,
                        'violations', c.violations,
                        'threshold', c.threshold,
                        'threshold_percent', c.threshold_percent
                    )
                    ORDER BY c.stage, m.ordinal, m.constraint_id
                )
            FROM omd_delivery.constraint_result AS c
            INNER JOIN omd_delivery.model_constraint AS m ON c.constraint_id = m.constraint_id
            LEFT JOIN omd_delivery.attribute AS t ON m.attribute_id = t.attribute_id
            WHERE
                c.delivery_id = d.delivery_id
                AND c.attempt = d.attempt
                AND c.violations IS NOT NULL
                AND m.entity_id = de.entity_id
        ) AS checks
    FROM omd_delivery.delivery_entity AS de
    INNER JOIN omd_delivery.delivery AS d ON de.delivery_id = d.delivery_id
    INNER JOIN omd_delivery.agreement AS a ON d.agreement_id = a.agreement_id
    INNER JOIN omd_delivery.entity AS e ON de.entity_id = e.entity_id
    WHERE de.module_instance_id = any(p_instance_array);
END;

COMMENT ON FUNCTION omd_delivery.described_runs IS
'For rooms: Returns of each entity run among p_instance_array the time T of its delivery, its '
'staging table, which column of it each attribute comes from (NULL: none does), and the checks '
'that were counted, each with constraint, type, column, content, violations, threshold and '
'threshold_percent (NULL: none was). Locks: none.';
