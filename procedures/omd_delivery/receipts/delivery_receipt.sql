-- It says of the newest run what was counted, and what became of the delivery.

CREATE OR REPLACE FUNCTION omd_delivery.delivery_receipt(
    p_delivery_id bigint
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $delivery_receipt$
BEGIN
    PERFORM omd_delivery._require_delivery(p_delivery_id);
    RETURN (
        SELECT
            jsonb_build_object(
                'delivery_id', d.delivery_id,
                'tenant', t.tenant_code,
                'agreement', a.agreement_code,
                'interface', i.interface_code,
                'model_version', d.model_version,
                'snapshot_datetime', d.snapshot_datetime,
                'created_datetime', d.created_datetime,
                'message', d.message,
                'status', d.delivery_status,
                'verdict', d.verdict,
                'attempt', d.attempt,
                'is_complete', NOT EXISTS (
                    SELECT FROM omd_delivery.entity AS e
                    WHERE e.interface_id = a.interface_id
                        AND NOT e.is_retired
                        AND NOT e.is_derived
                        AND (a.entity_ids IS NULL OR e.entity_id = ANY(a.entity_ids))
                        AND NOT EXISTS (
                            SELECT FROM omd_delivery.delivery_entity AS de
                            WHERE de.delivery_id = d.delivery_id AND de.entity_id = e.entity_id
                        )
                ),
                'reasons', d.reasons,
                'entities', (
                    SELECT
                        coalesce(
                            jsonb_agg(
                                jsonb_build_object(
                                    'entity', e.entity_code,
                                    'load', de.load_type,
                                    'rows_announced', de.rows_announced,
                                    'rows_delivered', r.rows_delivered,
                                    'rows_skipped', r.rows_skipped,
                                    'rows_new', de.rows_new,
                                    'rows_changed', de.rows_changed,
                                    'rows_deleted', de.rows_deleted,
                                    'rows_unchanged', de.rows_unchanged,
                                    'constraints', coalesce(k.constraints, '[]'),
                                    'findings', coalesce(f.findings, '{}')
                                )
                                ORDER BY de.entity_id IS NULL, e.ordinal
                            ),
                            '[]'
                        )
                    FROM omd_delivery.entity AS e
                    LEFT JOIN omd_delivery.delivery_entity AS de
                        ON de.delivery_id = d.delivery_id AND e.entity_id = de.entity_id
                    LEFT JOIN LATERAL (
                        SELECT s.rows_delivered, s.rows_skipped
                        FROM omd_delivery.entity_result AS s
                        WHERE s.delivery_id = d.delivery_id
                            AND s.attempt = d.attempt
                            AND s.entity_id = e.entity_id
                            AND s.measured_datetime IS NOT NULL
                        ORDER BY s.stage DESC
                        LIMIT 1
                    ) AS r ON TRUE
                    LEFT JOIN LATERAL (
                        SELECT
                            jsonb_agg(
                                jsonb_build_object(
                                    'constraint', m.constraint_code,
                                    'type', m.constraint_type,
                                    'stage', c.stage,
                                    'action', omd_delivery._action_name(c.action),
                                    'violations', c.violations,
                                    'existing', c.existing,
                                    'threshold', c.threshold,
                                    'threshold_percent', c.threshold_percent,
                                    'level', c.level
                                )
                                ORDER BY c.stage, m.ordinal, m.constraint_id
                            ) AS constraints
                        FROM omd_delivery.constraint_result AS c
                        INNER JOIN omd_delivery.model_constraint AS m USING (constraint_id)
                        WHERE c.delivery_id = d.delivery_id
                            AND c.attempt = d.attempt
                            AND m.entity_id = e.entity_id
                    ) AS k ON TRUE
                    LEFT JOIN LATERAL (
                        SELECT jsonb_object_agg(x.key, x.value ORDER BY s.stage) AS findings
                        FROM omd_delivery.entity_result AS s
                        CROSS JOIN LATERAL jsonb_each(s.findings) AS x
                        WHERE s.delivery_id = d.delivery_id
                            AND s.attempt = d.attempt
                            AND s.entity_id = e.entity_id
                    ) AS f ON TRUE
                    WHERE e.interface_id = d.interface_id
                        AND (de.entity_id IS NOT NULL OR k.constraints IS NOT NULL)
                )
            )
        FROM omd_delivery.delivery AS d
        INNER JOIN omd_delivery.agreement AS a USING (agreement_id)
        INNER JOIN omd_delivery.tenant AS t USING (tenant_id)
        INNER JOIN omd_delivery.interface AS i ON d.interface_id = i.interface_id
        WHERE d.delivery_id = p_delivery_id
    );
END
$delivery_receipt$;

COMMENT ON FUNCTION omd_delivery.delivery_receipt IS
'Returns the receipt of the delivery p_delivery_id for its tenant, as JSON, without row data: '
'delivery_id, tenant, agreement, interface, model_version, snapshot_datetime, created_datetime, '
'message, status, verdict, attempt, is_complete, reasons, and entities, each with load, '
'rows_announced, rows_delivered, rows_skipped, rows_new, rows_changed, rows_deleted, '
'rows_unchanged (delivered without effect), constraints (violations include existing; level NONE, '
'FINDING, WARN or REJECT) and findings. Errors: OM005: p_delivery_id is NULL; OM034: there is no '
'such delivery. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_delivery.delivery_receipt TO omd_reader;
