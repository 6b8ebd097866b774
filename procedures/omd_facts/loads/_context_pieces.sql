-- o is the open row, x a closed one, d the delta, f<n> the anchors of parents.

CREATE OR REPLACE FUNCTION omd_facts._context_pieces(
    p_context_id integer
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $context_pieces$
DECLARE
    v_context record;
    v_pieces jsonb;
BEGIN
    SELECT c.*, 'cfl_' || i.interface_code AS cfl INTO v_context
    FROM omd_facts.context AS c
    INNER JOIN omd_facts.entity AS e USING (entity_id)
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    WHERE c.context_id = p_context_id;
    SELECT
        jsonb_build_object(
            'context', format('%I.%I', v_context.cfl, v_context.context_table),
            'now', format('%I.%I', v_context.cfl, v_context.context_table || '_now'),
            'past', format('%I.%I', v_context.cfl, v_context.context_table || '_past'),
            'own', coalesce(
                string_agg(format(', %I', a.attribute_code), '' ORDER BY a.key_position)
                FILTER (WHERE a.is_own), ''
            ),
            'o_own', coalesce(
                string_agg(format(', o.%I', a.attribute_code), '' ORDER BY a.key_position)
                FILTER (WHERE a.is_own), ''
            ),
            'd_own', coalesce(
                string_agg(format(', d.%I', a.attribute_code), '' ORDER BY a.key_position)
                FILTER (WHERE a.is_own), ''
            ),
            'o_own_match', coalesce(
                string_agg(
                    format(' AND o.%1$I = d.%1$I', a.attribute_code), '' ORDER BY a.key_position
                ) FILTER (WHERE a.is_own), ''
            ),
            'x_own_match', coalesce(
                string_agg(
                    format(' AND x.%1$I = o.%1$I', a.attribute_code), '' ORDER BY a.key_position
                ) FILTER (WHERE a.is_own), ''
            ),
            'attributes', coalesce(
                string_agg(format(', %I', a.attribute_code), '' ORDER BY a.ordinal)
                FILTER (WHERE NOT a.is_own), ''
            ),
            'o_attributes', coalesce(
                string_agg(format(', o.%I', a.attribute_code), '' ORDER BY a.ordinal)
                FILTER (WHERE NOT a.is_own), ''
            ),
            'x_attributes', coalesce(
                string_agg(format(', x.%I', a.attribute_code), '' ORDER BY a.ordinal)
                FILTER (WHERE NOT a.is_own), ''
            ),
            'd_attributes', coalesce(
                string_agg(format(', d.%I', a.attribute_code), '' ORDER BY a.ordinal)
                FILTER (WHERE NOT a.is_own), ''
            ),
            'set_attributes', coalesce(
                string_agg(
                    format(
                        ', %1$I = CASE WHEN d.acm_record_ind = ''R'' THEN o.%1$I ELSE d.%1$I END',
                        a.attribute_code
                    ),
                    '' ORDER BY a.ordinal
                ) FILTER (WHERE NOT a.is_own), ''
            ),
            'kept_attributes', coalesce(
                string_agg(
                    format(
                        ', CASE WHEN d.acm_record_ind = ''R'' THEN x.%1$I ELSE d.%1$I END',
                        a.attribute_code
                    ),
                    '' ORDER BY a.ordinal
                ) FILTER (WHERE NOT a.is_own), ''
            ),
            'differs', coalesce(
                format(
                    '(%s) IS DISTINCT FROM (%s)',
                    string_agg(format('d.%I', a.attribute_code), ', ' ORDER BY a.ordinal)
                    FILTER (WHERE NOT a.is_own),
                    string_agg(format('o.%I', a.attribute_code), ', ' ORDER BY a.ordinal)
                    FILTER (WHERE NOT a.is_own)
                ),
                ''
            ),
            'nulls', coalesce(
                string_agg(', NULL', '' ORDER BY a.ordinal) FILTER (WHERE NOT a.is_own), ''
            ),
            'has_value', CASE
                WHEN v_context.context_kind IN ('immutable', 'alternate_key')
                    THEN format(
                        'num_nonnulls(%s) > 0',
                        string_agg(format('d.%I', a.attribute_code), ', ' ORDER BY a.ordinal)
                    )
                ELSE 'TRUE'
            END
        )
    INTO v_pieces
    FROM (
        SELECT a.attribute_code, a.ordinal, a.key_position, a.key_position IS NOT NULL AS is_own
        FROM omd_facts.attribute AS a
        WHERE a.context_id = p_context_id
    ) AS a;
    IF v_pieces ->> 'attributes' = '' THEN
        v_pieces := v_pieces || jsonb_build_object('differs', 'FALSE');
    END IF;
    SELECT
        v_pieces || jsonb_build_object(
            'links', coalesce(
                string_agg(format(', %I', 'acm_fk_' || l.relationship_code), '' ORDER BY l.n), ''
            ),
            'o_links', coalesce(
                string_agg(format(', o.%I', 'acm_fk_' || l.relationship_code), '' ORDER BY l.n), ''
            ),
            'x_links', coalesce(
                string_agg(format(', x.%I', 'acm_fk_' || l.relationship_code), '' ORDER BY l.n), ''
            ),
            'null_links', coalesce(string_agg(', NULL', ''), ''),
            'link_values', coalesce(string_agg(format(', f%s.acm_id', l.n), '' ORDER BY l.n), ''),
            'set_links', coalesce(
                string_agg(
                    format(
                        ', %1$I = CASE WHEN d.acm_record_ind = ''R'' THEN o.%1$I ELSE f%2$s.acm_id END',
                        'acm_fk_' || l.relationship_code, l.n
                    ),
                    '' ORDER BY l.n
                ),
                ''
            ),
            'kept_links', coalesce(
                string_agg(
                    format(
                        ', CASE WHEN d.acm_record_ind = ''R'' THEN x.%1$I ELSE f%2$s.acm_id END',
                        'acm_fk_' || l.relationship_code, l.n
                    ),
                    '' ORDER BY l.n
                ),
                ''
            ),
            'link_joins', coalesce(
                string_agg(
                    format(
                        E'\nLEFT JOIN %I.%I AS f%s ON %s',
                        v_context.cfl, l.anchor_table, l.n,
                        replace(l.condition, '{n}', l.n::text)
                    ),
                    '' ORDER BY l.n
                ),
                ''
            )
        )
    INTO v_pieces
    FROM (
        SELECT
            l.relationship_code,
            p.anchor_table,
            row_number() OVER (ORDER BY l.relationship_code) AS n,
            (
                SELECT
                    string_agg(
                        format('f{n}.%I = d.%I', k.attribute_code, l.child_columns[k.key_position]),
                        ' AND ' ORDER BY k.key_position
                    )
                FROM omd_facts.attribute AS k
                WHERE k.entity_id = p.entity_id AND k.key_position IS NOT NULL
            ) AS condition
        FROM omd_facts.link AS l
        INNER JOIN omd_facts.entity AS p ON l.parent_entity_id = p.entity_id
        WHERE l.context_id = p_context_id
    ) AS l;
    RETURN v_pieces;
END
$context_pieces$;

COMMENT ON FUNCTION omd_facts._context_pieces IS
'Returns the pieces of SQL about the context p_context_id. Locks: none.';
