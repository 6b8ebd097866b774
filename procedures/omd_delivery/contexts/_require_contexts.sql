-- Without a context, all rows that are missing would be taken as deleted: those of others too. A
-- bound tenant can't set itself free with "context", nor by naming a parent, which may belong to
-- others: each parent that is bound must be there and be limited itself.

CREATE OR REPLACE FUNCTION omd_delivery._require_contexts(
    p_delivery_id bigint
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_contexts$
DECLARE
    v_missing record;
BEGIN
    WITH bound AS MATERIALIZED (
        SELECT b.entity_id, b.named_ids, b.entity_id = ANY(b.named_ids) AS is_named
        FROM omd_delivery.delivery AS d
        CROSS JOIN LATERAL omd_delivery._bound_entities(d.agreement_id) AS b
        WHERE d.delivery_id = p_delivery_id
    ),

    filter AS MATERIALIZED (
        SELECT
            r.child_entity_id,
            p.entity_id,
            p.entity_code,
            p.ordinal,
            b.named_ids,
            b.is_named,
            dp.load_type
        FROM omd_delivery.delivery AS d
        INNER JOIN omd_delivery.entity AS p ON d.interface_id = p.interface_id
        INNER JOIN omd_delivery.relationship AS r
            ON p.entity_id = r.parent_entity_id AND r.has_context_filter AND NOT r.is_retired
        LEFT JOIN bound AS b ON p.entity_id = b.entity_id
        LEFT JOIN omd_delivery.delivery_entity AS dp
            ON d.delivery_id = dp.delivery_id AND p.entity_id = dp.entity_id
        WHERE d.delivery_id = p_delivery_id
    ),

    -- What is named limits the children of each of these parents.
    limiting AS MATERIALIZED (
        SELECT
            f.child_entity_id,
            f.entity_code,
            f.ordinal,
            f.named_ids,
            CASE
                WHEN f.is_named OR f.load_type = 'FULL' THEN f.named_ids
                WHEN f.load_type = 'DELTA' THEN ARRAY(
                    SELECT n.id
                    FROM filter AS g
                    CROSS JOIN LATERAL unnest(g.named_ids) AS n (id)
                    WHERE g.child_entity_id = f.entity_id AND g.is_named
                )
                ELSE '{}'
            END AS limited_by
        FROM filter AS f
        WHERE f.named_ids IS NOT NULL
    )

    SELECT e.entity_code, x.*
    INTO v_missing
    FROM omd_delivery._contexts(p_delivery_id) AS c
    INNER JOIN omd_delivery.entity AS e ON c.entity_id = e.entity_id
    INNER JOIN omd_delivery.delivery_entity AS de ON c.entity_id = de.entity_id
    LEFT JOIN bound AS b ON c.entity_id = b.entity_id
    CROSS JOIN LATERAL (
        SELECT
            ARRAY(
                SELECT n.id
                FROM limiting AS l
                CROSS JOIN LATERAL unnest(l.limited_by) AS n (id)
                WHERE l.child_entity_id = c.entity_id
            ) AS limited_by
    ) AS k
    CROSS JOIN LATERAL (
        SELECT
            'these must be delivered Full with it, since the agreement binds it by them'
            AS problem,
            coalesce(
                array_agg(l.entity_code ORDER BY l.ordinal)
                FILTER (WHERE NOT l.named_ids <@ k.limited_by),
                e.derived_from
            ) AS parents
        FROM limiting AS l
        WHERE l.child_entity_id = c.entity_id
            AND NOT b.is_named
            AND NOT b.named_ids <@ k.limited_by
        HAVING count(*) > 0
        UNION ALL
        SELECT
            'none of its parents is delivered or named',
            array_agg(f.entity_code ORDER BY f.ordinal)
        FROM filter AS f
        WHERE f.child_entity_id = c.entity_id AND c.is_missing
    ) AS x
    WHERE de.delivery_id = p_delivery_id
        AND de.load_type = 'FULL'
        AND x.parents IS NOT NULL
    ORDER BY e.ordinal
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM039',
            jsonb_build_object(
                'entity', v_missing.entity_code,
                'problem', v_missing.problem,
                'parents', array_to_string(v_missing.parents, ', ')
            )
        );
    END IF;
END
$require_contexts$;

COMMENT ON FUNCTION omd_delivery._require_contexts IS
'Refuses the delivery p_delivery_id when nobody has said what a Full entity is about: it has '
'context filters and none is active, or the agreement binds it by parents that are not there. '
'Errors: OM039: so it is. Locks: none.';
