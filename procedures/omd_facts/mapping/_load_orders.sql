-- Parents come first, so that a key is inserted once and not as a placeholder before. Only what
-- lies in a key must be a tree; a circle of other relationships is cut where it is met.

CREATE OR REPLACE FUNCTION omd_facts._load_orders(
    p_registry jsonb,
    OUT entity_id integer,
    OUT load_order integer
)
RETURNS SETOF record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $load_orders$
DECLARE
    v_left integer[];
    v_placed integer[] := '{}'::integer[];
    v_next integer;
BEGIN
    SELECT array_agg((e.item ->> 'entity_id')::integer ORDER BY e.n) INTO v_left
    FROM jsonb_array_elements(p_registry -> 'entities') WITH ORDINALITY AS e (item, n);
    WHILE v_left <> '{}' LOOP
        SELECT f.id INTO v_next
        FROM (
            SELECT
                (e.item ->> 'entity_id')::integer AS id,
                e.n,
                bool_or(r.is_open) AS waits,
                bool_or(r.is_open AND r.is_in_key) AS waits_for_key
            FROM jsonb_array_elements(p_registry -> 'entities') WITH ORDINALITY AS e (item, n)
            LEFT JOIN LATERAL (
                SELECT
                    (p.item ->> 'parent_entity_id')::integer <> ALL(v_placed)
                    AND (
                        p.item ->> 'parent_entity_id' <> e.item ->> 'entity_id' OR k.is_in_key
                    ) AS is_open,
                    k.is_in_key
                FROM jsonb_array_elements(e.item -> 'relationships') AS p (item)
                CROSS JOIN LATERAL (
                    SELECT omd_facts._is_in_key(e.item, p.item) AS is_in_key
                ) AS k
            ) AS r ON TRUE
            WHERE (e.item ->> 'entity_id')::integer = ANY(v_left)
            GROUP BY e.item, e.n
        ) AS f
        WHERE f.waits_for_key IS NOT TRUE
        ORDER BY f.waits IS TRUE, f.n
        LIMIT 1;
        IF NOT FOUND THEN
            PERFORM omd_facts._raise_mapping(
                p_registry,
                (
                    SELECT e.item ->> 'entity_code'
                    FROM jsonb_array_elements(p_registry -> 'entities') AS e (item)
                    WHERE (e.item ->> 'entity_id')::integer = v_left[1]
                ),
                'the relationships in its key form a circle'
            );
        END IF;
        v_left := array_remove(v_left, v_next);
        v_placed := v_placed || v_next;
        entity_id := v_next;
        load_order := cardinality(v_placed);
        RETURN NEXT;
    END LOOP;
END
$load_orders$;

COMMENT ON FUNCTION omd_facts._load_orders IS
'Returns the entities of p_registry in an order in which they can be loaded. Errors: OM250: '
'relationships in keys form a circle. Locks: none.';
