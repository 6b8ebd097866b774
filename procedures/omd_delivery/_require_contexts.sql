-- Without a context, all rows that are missing would be taken as deleted.

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
    SELECT
        e.entity_code,
        array_agg(p.entity_code ORDER BY r.relationship_id) AS parents
    INTO v_missing
    FROM omd_delivery._contexts(p_delivery_id) AS c
    INNER JOIN omd_delivery.entity AS e ON c.entity_id = e.entity_id
    INNER JOIN omd_delivery.relationship AS r
        ON e.entity_id = r.child_entity_id AND r.has_context_filter AND NOT r.is_retired
    INNER JOIN omd_delivery.entity AS p ON r.parent_entity_id = p.entity_id
    WHERE c.is_missing
    GROUP BY e.entity_code, e.ordinal
    ORDER BY e.ordinal
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM039',
            jsonb_build_object(
                'entity', v_missing.entity_code,
                'parents', array_to_string(v_missing.parents, ', ')
            )
        );
    END IF;
END
$require_contexts$;

COMMENT ON FUNCTION omd_delivery._require_contexts IS
'Refuses the delivery p_delivery_id when a Full entity has context filters and none is active. '
'Errors: OM039: it has. Locks: none.';
REVOKE ALL ON FUNCTION omd_delivery._require_contexts FROM PUBLIC;
