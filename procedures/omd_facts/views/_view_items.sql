-- The columns of every perspective are these. p is the context that says whether a row exists, a
-- the anchor, c<id> any other context.

CREATE OR REPLACE FUNCTION omd_facts._view_items(
    p_entity_id integer
)
RETURNS TABLE (place integer, name text, expression text)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $view_items$
BEGIN
    RETURN QUERY
    WITH existence AS (
        SELECT c.context_id, e.entity_kind, e.anchor_entity_id
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.context AS c USING (entity_id)
        WHERE e.entity_id = p_entity_id
            AND (e.entity_kind = 'CONTEXT' OR c.context_code = 'properties')
    )

    SELECT
        a.ordinal,
        a.attribute_code,
        CASE
            WHEN a.context_id IS NOT NULL
                THEN format('%s.%I', omd_facts._alias(a.context_id, x.context_id), a.attribute_code)
            WHEN x.entity_kind <> 'CONTEXT' THEN format('a.%I', a.attribute_code)
            ELSE (
                SELECT format('a.%I', k.attribute_code)
                FROM omd_facts.link AS l
                INNER JOIN omd_facts.attribute AS k
                    ON x.anchor_entity_id = k.entity_id
                        AND k.key_position = array_position(l.child_columns, a.attribute_code)
                WHERE l.entity_id = p_entity_id AND l.context_id IS NULL
            )
        END
    FROM omd_facts.attribute AS a
    CROSS JOIN existence AS x
    WHERE a.entity_id = p_entity_id
    UNION ALL
    SELECT
        20000,
        'acm_fk_' || l.relationship_code,
        format(
            '%s.%I',
            coalesce(omd_facts._alias(l.context_id, x.context_id), 'a'),
            'acm_fk_' || l.relationship_code
        )
    FROM omd_facts.link AS l
    CROSS JOIN existence AS x
    WHERE l.entity_id = p_entity_id
        AND NOT (x.entity_kind = 'CONTEXT' AND l.context_id IS NULL)
    UNION ALL
    SELECT v.*
    FROM (
        VALUES
        (10000, 'acm_id', 'p.acm_id'),
        (30000, 'acm_start_dt', 'p.acm_start_dt'),
        (30001, 'acm_end_dt', 'p.acm_end_dt'),
        (30002, 'acm_record_ind', 'p.acm_record_ind'),
        (30003, 'acm_audit_id', 'p.acm_audit_id'),
        (30004, 'acm_exists_ind', 'a.acm_exists_ind'),
        (30005, 'acm_latest_start_dt', 'a.acm_latest_start_dt'),
        (30006, 'acm_last_created_dt', 'a.acm_last_created_dt')
    ) AS v (place, name, expression);
END
$view_items$;

COMMENT ON FUNCTION omd_facts._view_items IS
'Returns the columns of the views of the entity p_entity_id. Locks: none.';
