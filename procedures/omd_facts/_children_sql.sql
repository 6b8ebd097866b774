-- A row with children that exist is not deleted, unless it is its only child.

CREATE OR REPLACE FUNCTION omd_facts._children_sql(
    p_entity_id integer
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $children_sql$
BEGIN
    RETURN (
        SELECT
            coalesce(
                string_agg(
                    format(
                        $sql$
        PERFORM FROM %s AS c WHERE c.%I = v_id AND %s%s;
        IF FOUND THEN
            PERFORM omd.raise_error(
                'OM055', jsonb_build_object('entity_code', {entity}, 'key', v_key, 'child', %L)
            );
        END IF;$sql$,
                        format(
                            '%I.%I', 'cfl_' || i.interface_code,
                            coalesce(x.context_table || '_now', c.anchor_table)
                        ),
                        'acm_fk_' || l.relationship_code,
                        CASE WHEN x.context_id IS NULL THEN 'c.acm_exists_ind = 1'
                            ELSE 'c.acm_record_ind <> ''R''' END,
                        CASE WHEN l.entity_id = p_entity_id THEN ' AND c.acm_id <> v_id' ELSE '' END,
                        c.entity_code
                    ),
                    '' ORDER BY c.entity_id, l.relationship_code
                ),
                ''
            )
        FROM omd_facts.link AS l
        INNER JOIN omd_facts.entity AS c ON l.entity_id = c.entity_id
        INNER JOIN omd_facts.interface AS i ON c.interface_id = i.interface_id
        LEFT JOIN omd_facts.context AS x ON l.context_id = x.context_id
        WHERE l.parent_entity_id = p_entity_id
            AND (c.entity_kind <> 'CONTEXT' OR l.context_id IS NOT NULL)
    );
END
$children_sql$;

COMMENT ON FUNCTION omd_facts._children_sql IS
'Returns the part of the function of a view that looks for children of the entity p_entity_id. '
'Locks: none.';
REVOKE ALL ON FUNCTION omd_facts._children_sql FROM PUBLIC;
