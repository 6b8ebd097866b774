-- A change of the model or of a setting during a run must not change what its rows are held
-- against. An entity that is not delivered is looked at when a parent or a child of it is.

CREATE OR REPLACE FUNCTION omd_delivery._fix_constraints(
    p_delivery_id bigint,
    p_attempt integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fix_constraints$
BEGIN
    INSERT INTO omd_delivery.constraint_result (
        delivery_id, attempt, constraint_id, stage, action, threshold, threshold_percent, warn,
        warn_percent, holds_when_empty
    )
    SELECT
        p_delivery_id,
        p_attempt,
        s.constraint_id,
        s.stage,
        s.action,
        CASE
            WHEN x.is_lifted THEN NULL
            WHEN x.holds_when_empty THEN 0
            ELSE s.threshold
        END,
        CASE WHEN NOT x.is_lifted THEN s.threshold_percent END,
        s.warn,
        s.warn_percent,
        x.holds_when_empty
    FROM omd_delivery.delivery AS d
    INNER JOIN omd_delivery.agreement AS a USING (agreement_id)
    CROSS JOIN LATERAL omd_delivery._settings(d.interface_id, a.settings) AS s
    INNER JOIN omd_delivery.entity AS e ON s.entity_id = e.entity_id AND NOT e.is_retired
    INNER JOIN omd_delivery.model_constraint AS c ON s.constraint_id = c.constraint_id
    LEFT JOIN omd_delivery.relationship AS r ON c.relationship_id = r.relationship_id
    LEFT JOIN omd_delivery.delivery_entity AS de
        ON d.delivery_id = de.delivery_id AND e.entity_id = de.entity_id
    LEFT JOIN omd_delivery._contexts(p_delivery_id) AS k ON e.entity_id = k.entity_id
    CROSS JOIN LATERAL (
        SELECT
            s.constraint_type = 'deletes' AND de.allows_deletes AS is_lifted,
            s.constraint_type = 'deletes'
            AND NOT de.allows_deletes
            AND NOT s.has_threshold AS holds_when_empty
    ) AS x
    WHERE d.delivery_id = p_delivery_id
        AND s.is_enabled
        AND CASE
            WHEN de.entity_id IS NOT NULL THEN CASE s.constraint_type
                WHEN 'row_count' THEN de.rows_announced IS NOT NULL
                WHEN 'context' THEN k.is_limited
                WHEN 'deletes' THEN de.load_type = 'FULL'
                ELSE TRUE
            END
            -- An entity that is not delivered: the delivery may break its rows.
            ELSE EXISTS (
                SELECT FROM omd_delivery.delivery_entity AS other
                WHERE other.delivery_id = p_delivery_id
                    AND other.entity_id = CASE s.constraint_type
                        WHEN 'parent_exists' THEN r.parent_entity_id
                        WHEN 'child_exists' THEN r.child_entity_id
                    END
            )
        END;

    INSERT INTO omd_delivery.entity_result (delivery_id, attempt, stage, entity_id, load_type)
    SELECT p_delivery_id, p_attempt, s.stage, de.entity_id, de.load_type
    FROM omd_delivery.delivery_entity AS de
    CROSS JOIN (VALUES (1), (2)) AS s (stage)
    WHERE de.delivery_id = p_delivery_id
    UNION
    SELECT p_delivery_id, p_attempt, c.stage, m.entity_id, de.load_type
    FROM omd_delivery.constraint_result AS c
    INNER JOIN omd_delivery.model_constraint AS m USING (constraint_id)
    LEFT JOIN omd_delivery.delivery_entity AS de
        ON c.delivery_id = de.delivery_id AND m.entity_id = de.entity_id
    WHERE c.delivery_id = p_delivery_id AND c.attempt = p_attempt;
END
$fix_constraints$;

COMMENT ON FUNCTION omd_delivery._fix_constraints IS
'Fixes what the run p_attempt of the delivery p_delivery_id checks: the entities of both stages, '
'and the constraints with their actions and thresholds. Locks: none.';
