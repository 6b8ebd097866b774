-- The relationships of an entity, as the template of _writer_sql names them. That of a CONTEXT to
-- its anchor is not among them: it is stored nowhere, and the anchor is looked for anyway.

CREATE OR REPLACE FUNCTION omd_facts._writer_parents(
    p_entity_id integer
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $writer_parents$
DECLARE
    v_keys CONSTANT text[] := omd_facts._anchor_columns(p_entity_id);
BEGIN
    RETURN (
        SELECT
            jsonb_agg(
                jsonb_build_object(
                    'relationship', quote_literal(l.relationship_code),
                    'link', quote_ident('acm_fk_' || l.relationship_code),
                    'parent_id', quote_ident('v_fk_' || l.relationship_code),
                    'parent', format('%I.%I', 'cfl_' || i.interface_code, p.anchor_table),
                    'parent_view', format('%I.%I', 'gdal_' || i.interface_code, p.entity_code),
                    'parent_entity_id', p.entity_id,
                    'is_supertype', p.entity_id = e.supertype_id,
                    'is_self', p.entity_id = p_entity_id,
                    'columns', k.columns
                )
                ORDER BY l.relationship_code
            )
        FROM omd_facts.link AS l
        INNER JOIN omd_facts.entity AS e ON l.entity_id = e.entity_id
        INNER JOIN omd_facts.interface AS i ON e.interface_id = i.interface_id
        INNER JOIN omd_facts.entity AS p ON l.parent_entity_id = p.entity_id
        CROSS JOIN LATERAL (
            SELECT
                jsonb_agg(
                    jsonb_build_object(
                        'column', quote_ident(l.child_columns[a.key_position]),
                        'parent_key', quote_ident(a.attribute_code),
                        'own_key', quote_ident(v_keys[a.key_position])
                    )
                    ORDER BY a.key_position
                ) AS columns
            FROM omd_facts.attribute AS a
            WHERE a.entity_id = p.entity_id AND a.key_position IS NOT NULL
        ) AS k
        WHERE l.entity_id = p_entity_id
            AND (e.entity_kind <> 'CONTEXT' OR l.context_id IS NOT NULL)
    );
END
$writer_parents$;

COMMENT ON FUNCTION omd_facts._writer_parents IS
'Returns what the function of a view must know of the parents of the entity p_entity_id. Locks: '
'none.';
