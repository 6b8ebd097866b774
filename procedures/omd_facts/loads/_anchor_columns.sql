-- The attributes of an entity that name its anchor: its key, or those that name its parent.

CREATE OR REPLACE FUNCTION omd_facts._anchor_columns(
    p_entity_id integer
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $anchor_columns$
BEGIN
    RETURN (
        SELECT
            CASE e.entity_kind
                WHEN 'CONTEXT' THEN (
                    SELECT l.child_columns FROM omd_facts.link AS l
                    WHERE l.entity_id = p_entity_id AND l.context_id IS NULL
                )
                ELSE ARRAY(
                    SELECT a.attribute_code FROM omd_facts.attribute AS a
                    WHERE a.entity_id = p_entity_id AND a.key_position IS NOT NULL
                    ORDER BY a.key_position
                )
            END
        FROM omd_facts.entity AS e
        WHERE e.entity_id = p_entity_id
    );
END
$anchor_columns$;

COMMENT ON FUNCTION omd_facts._anchor_columns IS
'Returns the attributes of the entity p_entity_id that name its anchor, in the order of the key '
'of the anchor. Locks: none.';
