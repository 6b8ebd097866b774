-- d is what names the keys, a the anchor, f<n> the anchors of its parents.

CREATE OR REPLACE FUNCTION omd_facts._key_pieces(
    p_entity_id integer,
    p_columns text[]
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $key_pieces$
DECLARE
    v_pieces jsonb;
    v_cfl text;
    v_root jsonb;
BEGIN
    SELECT 'cfl_' || i.interface_code,
        jsonb_build_object(
            'anchor', format('%I.%I', 'cfl_' || i.interface_code, e.anchor_table),
            'entity_id', e.entity_id,
            'id', CASE WHEN e.supertype_id IS NOT NULL THEN 'acm_id, ' ELSE '' END
        )
    INTO v_cfl, v_pieces
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    WHERE e.entity_id = p_entity_id;
    SELECT
        v_pieces || jsonb_build_object(
            'keys', string_agg(quote_ident(k.attribute_code), ', ' ORDER BY k.key_position),
            'd_keys', string_agg(format('d.%I', k.code), ', ' ORDER BY k.key_position),
            'd_match', string_agg(
                format('a.%I = d.%I', k.attribute_code, k.code), ' AND ' ORDER BY k.key_position
            ),
            'd_given', string_agg(
                format('d.%I IS NOT NULL', k.code), ' AND ' ORDER BY k.key_position
            ),
            'd_columns', (
                SELECT string_agg(DISTINCT format('d.%I', c.code), ', ')
                FROM unnest(p_columns) AS c (code)
            )
        )
    INTO v_pieces
    FROM (
        SELECT a.attribute_code, a.key_position, p_columns[a.key_position] AS code
        FROM omd_facts.attribute AS a
        WHERE a.entity_id = p_entity_id
            AND a.key_position IS NOT NULL
            AND a.key_position <= cardinality(p_columns)
    ) AS k;
    SELECT
        v_pieces || jsonb_build_object(
            'links', coalesce(
                string_agg(format(', %I', 'acm_fk_' || l.relationship_code), '' ORDER BY l.n), ''
            ),
            'link_values', coalesce(string_agg(format(', f%s.acm_id', l.n), '' ORDER BY l.n), ''),
            'link_joins', coalesce(
                string_agg(
                    format(
                        E'\nINNER JOIN %I.%I AS f%s ON %s',
                        v_cfl, l.anchor_table, l.n,
                        replace(l.condition, '{n}', l.n::text)
                    ),
                    '' ORDER BY l.n
                ),
                ''
            ),
            'id_value', coalesce(
                min(format('f%s.acm_id, ', l.n)) FILTER (WHERE l.is_supertype), ''
            )
        )
    INTO v_pieces
    FROM (
        SELECT
            l.relationship_code,
            p.anchor_table,
            p.entity_id = e.supertype_id AS is_supertype,
            row_number() OVER (ORDER BY l.relationship_code) AS n,
            (
                SELECT
                    string_agg(
                        format('f{n}.%I = d.%I', pk.attribute_code, p_columns[ck.key_position]),
                        ' AND ' ORDER BY pk.key_position
                    )
                FROM omd_facts.attribute AS pk
                INNER JOIN omd_facts.attribute AS ck
                    ON ck.entity_id = l.entity_id
                        AND ck.attribute_code = l.child_columns[pk.key_position]
                WHERE pk.entity_id = p.entity_id AND pk.key_position IS NOT NULL
            ) AS condition
        FROM omd_facts.link AS l
        INNER JOIN omd_facts.entity AS e ON l.entity_id = e.entity_id
        INNER JOIN omd_facts.entity AS p ON l.parent_entity_id = p.entity_id
        WHERE l.entity_id = p_entity_id AND l.context_id IS NULL
    ) AS l;
    -- A key root has the same key, and each row of the anchor names its row of it.
    SELECT
        v_pieces || jsonb_build_object(
            'root', format('cfl.%I', 'kr_' || e.key_root_code),
            'root_keys', k.root_keys,
            'root_match', k.root_match,
            'links', v_pieces ->> 'links' || ', acm_kr_id',
            'link_values', v_pieces ->> 'link_values' || ', r.acm_id',
            'link_joins', format(
                E'%s\nINNER JOIN cfl.%I AS r ON %s',
                v_pieces ->> 'link_joins', 'kr_' || e.key_root_code, k.root_match
            )
        )
    INTO v_root
    FROM omd_facts.entity AS e
    CROSS JOIN LATERAL (
        SELECT
            string_agg('key_' || c.n, ', ' ORDER BY c.n) AS root_keys,
            string_agg(format('r.key_%s = d.%I', c.n, c.code), ' AND ' ORDER BY c.n) AS root_match
        FROM unnest(p_columns) WITH ORDINALITY AS c (code, n)
    ) AS k
    WHERE e.entity_id = p_entity_id AND e.key_root_code IS NOT NULL;
    v_pieces := coalesce(v_root, v_pieces);
    SELECT v_pieces || jsonb_build_object('members', format('cfl.%I', 'g_' || e.generalization_code))
    INTO v_root
    FROM omd_facts.entity AS e
    WHERE e.entity_id = p_entity_id AND e.generalization_code IS NOT NULL;
    RETURN coalesce(v_root, v_pieces);
END
$key_pieces$;

COMMENT ON FUNCTION omd_facts._key_pieces IS
'Returns the pieces of SQL about the anchor of the entity p_entity_id, whose key the columns '
'p_columns of d name. Locks: none.';
