-- A parent that is in a key names its own parents by the same columns.

CREATE OR REPLACE FUNCTION omd_facts._references(
    p_entity_id integer
)
RETURNS TABLE (ancestor_id integer, child_columns text[])
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $references$
BEGIN
    RETURN QUERY
    WITH RECURSIVE found AS (
        SELECT l.parent_entity_id AS ancestor_id, l.child_columns
        FROM omd_facts.link AS l
        WHERE l.entity_id = p_entity_id
        UNION
        SELECT
            l.parent_entity_id,
            ARRAY(
                SELECT f.child_columns[k.key_position]
                FROM unnest(l.child_columns) WITH ORDINALITY AS c (code, n)
                INNER JOIN omd_facts.attribute AS k
                    ON l.entity_id = k.entity_id AND c.code = k.attribute_code
                ORDER BY c.n
            )
        FROM found AS f
        INNER JOIN omd_facts.link AS l
            ON f.ancestor_id = l.entity_id AND l.context_id IS NULL
    )

    SELECT f.ancestor_id, f.child_columns
    FROM found AS f
    INNER JOIN omd_facts.entity AS e ON f.ancestor_id = e.entity_id
    ORDER BY e.load_order, f.child_columns;
END
$references$;

COMMENT ON FUNCTION omd_facts._references IS
'Returns the entities whose keys a row of the entity p_entity_id names, and the attributes that '
'name each, ancestors first. Locks: none.';
