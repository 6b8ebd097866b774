-- A sample is kept under the key as it was read, so the key is written the same way here.

CREATE OR REPLACE FUNCTION omd_delivery.violations_of(
    p_delivery_id bigint,
    p_entity_code text,
    p_key jsonb
)
RETURNS TABLE (
    constraint_code text,
    constraint_type text,
    attribute_code text,
    action text,
    is_skipped boolean,
    raw jsonb,
    staged_from text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $violations_of$
BEGIN
    RETURN QUERY
    SELECT
        c.constraint_code,
        c.constraint_type,
        a.attribute_code,
        omd_delivery._action_name(r.action),
        s.is_skipped,
        s.raw,
        s.staged_from
    FROM omd_delivery.delivery AS d
    INNER JOIN omd_delivery.entity AS e
        ON d.interface_id = e.interface_id AND e.entity_code = p_entity_code
    INNER JOIN omd_delivery.sample AS s
        ON d.delivery_id = s.delivery_id
            AND d.attempt = s.attempt
            AND e.entity_id = s.entity_id
            AND s.origin = 'DELIVERED'
            AND s.record_key
            = omd_delivery._context_keys(e.entity_id, jsonb_build_array(p_key)) -> 0
    CROSS JOIN LATERAL unnest(s.constraint_codes) AS v (code)
    INNER JOIN omd_delivery.model_constraint AS c
        ON e.entity_id = c.entity_id AND v.code = c.constraint_code
    LEFT JOIN omd_delivery.attribute AS a ON c.attribute_id = a.attribute_id
    LEFT JOIN omd_delivery.constraint_result AS r
        ON d.delivery_id = r.delivery_id
            AND d.attempt = r.attempt
            AND c.constraint_id = r.constraint_id
    WHERE d.delivery_id = p_delivery_id
    ORDER BY c.constraint_code;
END
$violations_of$;

COMMENT ON FUNCTION omd_delivery.violations_of IS
'For rooms: Returns what the rows with the key p_key of the entity p_entity_code violated in the '
'delivery p_delivery_id, as far as samples of it are kept: the constraint, its attribute and '
'action, and the row as it was staged. May be NULL: attribute_code, action, raw, staged_from. '
'Locks: none.';
