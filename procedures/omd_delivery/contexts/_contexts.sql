-- A filter whose parent is ALL filters nothing, so it is left out. A Delta knows no filter but
-- what is named. "ALL" leaves what is named as it is, and each parent that the agreement binds,
-- since the tenant is bound to it. What is derived from a part is a part: nobody knows what is
-- missing in it, unless it has a filter of its own. Where a source has what is derived from it as
-- its parent, the parent comes first, and is a part if something else limits the source.

CREATE OR REPLACE FUNCTION omd_delivery._contexts(
    p_delivery_id bigint
)
RETURNS TABLE (
    place integer,
    entity_id integer,
    context_kind text,
    named jsonb,
    filters jsonb,
    is_limited boolean,
    is_missing boolean
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $contexts$
DECLARE
    v_delivery omd_delivery.delivery;
    v_node record;
    v_kinds jsonb := '{}'::jsonb;
    v_is_any boolean;
    v_is_active boolean;
    v_bound integer[];
    v_unnamed integer[];
    v_is_part boolean;
    v_waits boolean := TRUE;
BEGIN
    SELECT d.* INTO v_delivery
    FROM omd_delivery.delivery AS d
    WHERE d.delivery_id = p_delivery_id;
    SELECT
        coalesce(array_agg(b.entity_id), '{}'),
        coalesce(array_agg(b.entity_id) FILTER (WHERE b.entity_id <> ALL(b.named_ids)), '{}')
    INTO v_bound, v_unnamed
    FROM omd_delivery._bound_entities(v_delivery.agreement_id) AS b;
    LOOP
        v_is_any := FALSE;
        FOR v_node IN
            SELECT
                e.entity_id,
                e.entity_code,
                e.derived_from,
                de.load_type,
                de.context_type,
                v_delivery.context -> e.entity_code AS named
            FROM omd_delivery.entity AS e
            LEFT JOIN omd_delivery.delivery_entity AS de
                ON de.delivery_id = p_delivery_id AND e.entity_id = de.entity_id
            WHERE e.interface_id = v_delivery.interface_id
                AND (de.entity_id IS NOT NULL OR v_delivery.context ? e.entity_code)
                AND NOT v_kinds ? e.entity_code
                AND (NOT v_waits OR v_kinds ?& coalesce(e.derived_from, '{}'))
                -- Parents first.
                AND NOT EXISTS (
                    SELECT FROM omd_delivery.relationship AS r
                    INNER JOIN omd_delivery.entity AS p ON r.parent_entity_id = p.entity_id
                    WHERE r.child_entity_id = e.entity_id
                        AND r.has_context_filter
                        AND NOT r.is_retired
                        AND de.load_type = 'FULL'
                        AND NOT v_kinds ? p.entity_code
                        AND (
                            v_delivery.context ? p.entity_code
                            OR EXISTS (
                                SELECT FROM omd_delivery.delivery_entity AS dp
                                WHERE dp.delivery_id = p_delivery_id AND dp.entity_id = p.entity_id
                            )
                        )
                )
            ORDER BY e.ordinal
        LOOP
            v_is_any := TRUE;
            v_waits := TRUE;
            v_is_part := EXISTS (
                SELECT FROM omd_delivery.entity AS s
                INNER JOIN omd_delivery.delivery_entity AS ds
                    ON ds.delivery_id = p_delivery_id AND s.entity_id = ds.entity_id
                WHERE s.interface_id = v_delivery.interface_id
                    AND s.entity_code = ANY(v_node.derived_from)
                    AND CASE
                        WHEN v_kinds ? s.entity_code
                            THEN v_kinds ->> s.entity_code = 'FILTERED'
                        ELSE
                            v_delivery.context ? s.entity_code
                            OR ds.context_type IS NOT DISTINCT FROM 'ROWS'
                            OR EXISTS (
                                SELECT FROM omd_delivery.relationship AS r
                                INNER JOIN omd_delivery.entity AS p
                                    ON r.parent_entity_id = p.entity_id
                                WHERE r.child_entity_id = s.entity_id
                                    AND r.has_context_filter
                                    AND NOT r.is_retired
                                    AND v_kinds ->> p.entity_code <> 'ALL'
                            )
                    END
            );
            SELECT
                coalesce(
                    jsonb_agg(
                        jsonb_build_object(
                            'relationship', r.relationship_code,
                            'parent', p.entity_code,
                            'parents', CASE
                                WHEN v_node.load_type = 'DELTA' THEN 'NAMED'
                                WHEN v_kinds ? p.entity_code THEN 'CONTEXT'
                                ELSE 'ROWS'
                            END
                        )
                        ORDER BY r.relationship_id
                    ) FILTER (
                        WHERE v_kinds ->> p.entity_code IS DISTINCT FROM 'ALL'
                            OR (v_node.load_type = 'DELTA')
                    ),
                    '[]'
                ),
                count(*) > 0
            INTO filters, v_is_active
            FROM omd_delivery.relationship AS r
            INNER JOIN omd_delivery.entity AS p ON r.parent_entity_id = p.entity_id
            WHERE r.child_entity_id = v_node.entity_id
                AND r.has_context_filter
                AND NOT r.is_retired
                AND v_node.load_type IS NOT NULL
                AND (
                    v_delivery.context ? p.entity_code
                    OR (
                        v_node.load_type = 'FULL'
                        AND (
                            v_node.context_type = 'ROWS'
                            OR (
                                v_kinds ? p.entity_code
                                AND (v_node.context_type IS NULL OR p.entity_id = ANY(v_bound))
                            )
                        )
                    )
                );
            entity_id := v_node.entity_id;
            named := v_node.named;
            context_kind := CASE
                WHEN v_node.load_type IS NULL THEN 'NAMED'
                WHEN v_node.load_type = 'DELTA' THEN 'KEYS'
                WHEN v_is_part AND filters = '[]' AND (
                    v_node.entity_id = ANY(v_unnamed)
                    OR (named IS NULL AND v_node.context_type IS DISTINCT FROM 'ALL')
                ) THEN 'KEYS'
                WHEN filters = '[]' AND named IS NULL THEN 'ALL'
                ELSE 'FILTERED'
            END;
            is_limited := v_node.load_type IS NOT NULL
                AND (filters <> '[]' OR named IS NOT NULL);
            is_missing := v_node.load_type = 'FULL'
                AND v_node.context_type IS NULL
                AND named IS NULL
                AND NOT v_is_active
                AND EXISTS (
                    SELECT FROM omd_delivery.relationship AS r
                    WHERE r.child_entity_id = v_node.entity_id
                        AND r.has_context_filter
                        AND NOT r.is_retired
                );
            place := coalesce(place, 0) + 1;
            v_kinds := v_kinds || jsonb_build_object(v_node.entity_code, context_kind);
            RETURN NEXT;
        END LOOP;
        EXIT WHEN NOT v_is_any AND NOT v_waits;
        v_waits := v_is_any;
    END LOOP;
END
$contexts$;

COMMENT ON FUNCTION omd_delivery._contexts IS
'Returns the contexts of the entities that the delivery p_delivery_id delivers or names, parents '
'first (place). context_kind: NAMED (not delivered), KEYS (a Delta, or derived from a part: what '
'is delivered), ALL, FILTERED. named: the keys that are named, or NULL. filters: the relationships'
' that filter: the parents are in their CONTEXT, those that the delivered ROWS name, or those '
'NAMED. is_limited: a row can be outside. is_missing: it has filters, and none is active. Locks: '
'none.';
