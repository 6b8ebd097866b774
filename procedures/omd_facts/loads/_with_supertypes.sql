-- A load of a subtype may write its supertypes.

CREATE OR REPLACE FUNCTION omd_facts._with_supertypes(
    p_entity_ids integer[]
)
RETURNS integer[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $with_supertypes$
BEGIN
    RETURN ARRAY(
        WITH RECURSIVE found AS (
            SELECT e.entity_id, e.supertype_id
            FROM omd_facts.entity AS e
            WHERE e.entity_id = ANY(p_entity_ids)
            UNION
            SELECT s.entity_id, s.supertype_id
            FROM found AS f
            INNER JOIN omd_facts.entity AS s ON f.supertype_id = s.entity_id
        )

        SELECT f.entity_id FROM found AS f ORDER BY f.entity_id
    );
END
$with_supertypes$;

COMMENT ON FUNCTION omd_facts._with_supertypes IS
'Returns the entities p_entity_ids and all their supertypes. Locks: none.';
