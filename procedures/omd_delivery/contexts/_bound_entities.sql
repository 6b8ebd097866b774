-- What an agreement names binds its tenant as far as context filters reach, and beyond them what is
-- derived from it: an entity that is not named itself is bound by its parents.

CREATE OR REPLACE FUNCTION omd_delivery._bound_entities(
    p_agreement_id integer
)
RETURNS TABLE (
    entity_id integer,
    named_ids integer[]
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $bound_entities$
BEGIN
    RETURN QUERY
    WITH RECURSIVE bound AS (
        SELECT e.entity_id, e.interface_id, e.entity_code, e.entity_id AS named_id
        FROM omd_delivery.agreement AS a
        INNER JOIN omd_delivery.entity AS e
            ON a.interface_id = e.interface_id AND a.context ? e.entity_code
        WHERE a.agreement_id = p_agreement_id
        UNION
        SELECT e.entity_id, e.interface_id, e.entity_code, b.named_id
        FROM bound AS b
        INNER JOIN omd_delivery.entity AS e ON b.interface_id = e.interface_id
        WHERE NOT e.is_retired
            AND (
                b.entity_code = ANY(e.derived_from)
                OR EXISTS (
                    SELECT FROM omd_delivery.relationship AS r
                    WHERE r.parent_entity_id = b.entity_id
                        AND r.child_entity_id = e.entity_id
                        AND r.has_context_filter
                        AND NOT r.is_retired
                )
            )
    )

    SELECT b.entity_id, array_agg(b.named_id)
    FROM bound AS b
    GROUP BY b.entity_id;
END
$bound_entities$;

COMMENT ON FUNCTION omd_delivery._bound_entities IS
'Returns the entities of which a tenant may touch a part only, because the agreement '
'p_agreement_id names keys of them, or of what they belong to or are derived from: named_ids are '
'the entities whose keys it names. Locks: none.';
