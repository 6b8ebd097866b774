-- What stored rows mean, as far as a deployment must not change it.

CREATE OR REPLACE FUNCTION omd_facts._stored_mapping(
    p_interface_id integer
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $stored_mapping$
BEGIN
    RETURN (
        SELECT
            jsonb_object_agg(
                e.entity_code || '.' || p.code,
                jsonb_build_object(
                    'entity_id', e.entity_id,
                    'anchor_table', e.anchor_table,
                    'supertype_id', e.supertype_id,
                    'generalization_code', CASE
                        WHEN p.data_type IS NOT NULL THEN e.generalization_code
                    END,
                    'key_root_code', CASE WHEN p.data_type IS NOT NULL THEN e.key_root_code END,
                    'data_type', p.data_type,
                    'key_position', p.key_position,
                    'parent_entity_id', p.parent_entity_id,
                    'attributes', p.attributes,
                    'context_table', c.context_table,
                    'context_kind', CASE WHEN p.data_type IS NOT NULL THEN c.context_kind END
                )
            )
        FROM omd_facts.entity AS e
        INNER JOIN (
            SELECT
                a.entity_id,
                a.attribute_code AS code,
                a.context_id,
                a.data_type,
                a.key_position,
                NULL::integer AS parent_entity_id,
                NULL::text[] AS attributes
            FROM omd_facts.attribute AS a
            UNION ALL
            SELECT
                l.entity_id,
                'acm_fk_' || l.relationship_code,
                l.context_id,
                NULL,
                NULL,
                l.parent_entity_id,
                ARRAY(SELECT l.entity_code || '.' || c.code FROM unnest(l.child_columns) AS c (code))
            FROM (
                SELECT l.*, e.entity_code
                FROM omd_facts.link AS l
                INNER JOIN omd_facts.entity AS e USING (entity_id)
                WHERE e.entity_kind <> 'CONTEXT' OR l.context_id IS NOT NULL
            ) AS l
        ) AS p USING (entity_id)
        LEFT JOIN omd_facts.context AS c ON p.context_id = c.context_id
        WHERE e.interface_id = p_interface_id
    );
END
$stored_mapping$;

COMMENT ON FUNCTION omd_facts._stored_mapping IS
'Returns where and how each attribute and link of the interface p_interface_id is stored; NULL '
'before its first deployment. Locks: none.';
