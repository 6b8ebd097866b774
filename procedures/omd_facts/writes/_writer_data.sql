-- What the template of _writer_sql is filled with. A name that is SQL is quoted here; a list is
-- what the template goes through.

CREATE OR REPLACE FUNCTION omd_facts._writer_data(
    p_entity_id integer
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $writer_data$
DECLARE
    v_keys CONSTANT text[] := omd_facts._anchor_columns(p_entity_id);
    v_entity record;
    v_anchor jsonb;
    v_existence jsonb;
    v_data jsonb;
BEGIN
    SELECT e.*, 'cfl_' || i.interface_code AS cfl, 'gdal_' || i.interface_code AS gdal
    INTO v_entity
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    WHERE e.entity_id = p_entity_id;
    SELECT omd_facts._writer_context(c.context_id) INTO v_existence
    FROM omd_facts.context AS c
    WHERE c.entity_id = p_entity_id
        AND (v_entity.entity_kind = 'CONTEXT' OR c.context_code = 'properties');
    -- A new anchor is inserted as by a load.
    v_anchor := omd_facts._key_pieces(v_entity.anchor_entity_id, v_keys);
    v_data := jsonb_build_object(
        'function', format('%I.%I', v_entity.cfl, '_write_' || v_entity.entity_code),
        'view', format('%I.%I', v_entity.gdal, v_entity.entity_code),
        'entity', quote_literal(v_entity.entity_code),
        'entity_id', p_entity_id,
        'interface_id', v_entity.interface_id,
        'has_anchor', v_entity.entity_kind <> 'CONTEXT',
        -- Its keys are noted for readers of changes, or its rows beside them.
        'keeps_keys', v_entity.keeps_changes AND v_entity.entity_kind <> 'CONTEXT',
        'keeps_slices', v_entity.keeps_changes AND v_entity.entity_kind = 'CONTEXT',
        'notes_erased', v_entity.entity_kind <> 'CONTEXT' AND EXISTS (
            SELECT FROM omd_facts.entity AS e
            WHERE e.anchor_entity_id = p_entity_id AND e.keeps_changes
        ),
        'anchor', v_anchor -> 'anchor',
        'anchor_name', quote_literal(v_entity.cfl || '.' || v_entity.anchor_table),
        'anchor_columns', concat(v_anchor ->> 'id', v_anchor ->> 'keys', v_anchor ->> 'links'),
        'anchor_values', concat(
            v_anchor ->> 'id_value', v_anchor ->> 'd_keys', v_anchor ->> 'link_values'
        ),
        'anchor_joins', v_anchor -> 'link_joins',
        'root', v_anchor -> 'root',
        'root_columns', v_anchor -> 'root_keys',
        'root_values', v_anchor -> 'd_keys',
        'members', v_anchor -> 'members',
        -- The context whose row says whether a row of the view exists: open rows, and all.
        'existence', v_existence ->> 'now',
        'existence_history', v_existence ->> 'context',
        'open_end', quote_literal(omd_facts._open_end()) || '::timestamptz',
        'parents', omd_facts._writer_parents(p_entity_id),
        'refusals', omd_facts._writer_refusals(p_entity_id)
    );
    SELECT
        v_data || jsonb_build_object(
            'keys', jsonb_agg(k.item ORDER BY k.key_position) FILTER (
                WHERE k.key_position IS NOT NULL
            ),
            -- The key of a CONTEXT beyond that of its anchor.
            'own_keys', jsonb_agg(k.item ORDER BY k.key_position) FILTER (
                WHERE k.key_position IS NOT NULL AND k.context_id IS NOT NULL
            ),
            'required', jsonb_agg(k.item ORDER BY k.key_position, k.ordinal) FILTER (
                WHERE k.key_position IS NOT NULL OR k.is_mandatory
            )
        )
    INTO v_data
    FROM (
        SELECT
            a.*,
            jsonb_build_object(
                'column', quote_ident(a.attribute_code),
                'attribute', quote_literal(a.attribute_code),
                'is_attribute', a.key_position IS NULL
            ) AS item
        FROM omd_facts.attribute AS a
        WHERE a.entity_id = p_entity_id
    ) AS k;
    RETURN v_data || jsonb_build_object(
        'anchor_keys', (
            SELECT jsonb_agg(
                jsonb_build_object(
                    'anchor_key', quote_ident(a.attribute_code),
                    'column', quote_ident(v_keys[a.key_position])
                )
                ORDER BY a.key_position
            )
            FROM omd_facts.attribute AS a
            WHERE a.entity_id = v_entity.anchor_entity_id AND a.key_position IS NOT NULL
        ),
        'system_columns', (
            SELECT jsonb_agg(
                jsonb_build_object('column', quote_ident(i.name)) ORDER BY i.place, i.name
            )
            FROM omd_facts._view_items(p_entity_id) AS i
            WHERE i.name LIKE 'acm\_%'
        ),
        'contexts', (
            SELECT jsonb_agg(omd_facts._writer_context(c.context_id) ORDER BY c.context_id)
            FROM omd_facts.context AS c
            WHERE c.entity_id = p_entity_id
        ),
        -- Of the entities that are a context of this one.
        'contexts_beside', (
            SELECT jsonb_agg(omd_facts._writer_context(c.context_id) ORDER BY c.context_id)
            FROM omd_facts.entity AS e
            INNER JOIN omd_facts.context AS c USING (entity_id)
            WHERE e.anchor_entity_id = p_entity_id AND e.entity_id <> p_entity_id
        ),
        -- Who names the anchor as its parent, but those contexts.
        'children', (
            SELECT jsonb_agg(
                jsonb_build_object(
                    'child', quote_literal(c.entity_code),
                    'child_table', format(
                        '%I.%I', 'cfl_' || i.interface_code,
                        coalesce(x.context_table || '_now', c.anchor_table)
                    ),
                    'child_link', quote_ident('acm_fk_' || l.relationship_code),
                    'is_in_context', x.context_id IS NOT NULL,
                    'is_self', l.entity_id = p_entity_id
                )
                ORDER BY c.entity_id, l.relationship_code
            )
            FROM omd_facts.link AS l
            INNER JOIN omd_facts.entity AS c ON l.entity_id = c.entity_id
            INNER JOIN omd_facts.interface AS i ON c.interface_id = i.interface_id
            LEFT JOIN omd_facts.context AS x ON l.context_id = x.context_id
            WHERE l.parent_entity_id = p_entity_id
                AND (c.entity_kind <> 'CONTEXT' OR l.context_id IS NOT NULL)
        )
    );
END
$writer_data$;

COMMENT ON FUNCTION omd_facts._writer_data IS
'Returns what the function of the view of the entity p_entity_id is made of, an object. Locks: '
'none.';
