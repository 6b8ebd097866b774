-- Of a member that was there before, whatever is not in it yet. A first deployment finds nothing.

CREATE OR REPLACE FUNCTION omd_facts._fill_shared(
    p_interface_id integer
)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fill_shared$
DECLARE
    v_member record;
BEGIN
    FOR v_member IN
        SELECT
            e.entity_id,
            e.generalization_code,
            e.key_root_code,
            'cfl_' || i.interface_code AS cfl,
            e.anchor_table,
            format('%I.%I', 'cfl_' || i.interface_code, e.anchor_table) AS anchor,
            k.*
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.interface AS i USING (interface_id)
        CROSS JOIN LATERAL (
            SELECT
                string_agg(quote_ident(a.attribute_code), ', ' ORDER BY a.key_position) AS keys,
                string_agg('key_' || a.key_position, ', ' ORDER BY a.key_position) AS root_keys,
                string_agg(
                    format('k.key_%s = a.%I', a.key_position, a.attribute_code), ' AND '
                    ORDER BY a.key_position
                ) AS key_match
            FROM omd_facts.attribute AS a
            WHERE a.entity_id = e.entity_id AND a.key_position IS NOT NULL
        ) AS k
        WHERE e.interface_id = p_interface_id
            AND num_nonnulls(e.generalization_code, e.key_root_code) > 0
            AND omd_facts._has_rows('cfl_' || i.interface_code, e.anchor_table)
        ORDER BY e.entity_id
    LOOP
        IF v_member.generalization_code IS NOT NULL
            AND omd_facts._lacks_members(v_member.entity_id)
        THEN
            RETURN NEXT format(
                'INSERT INTO cfl.%I (member_entity_id, member_id) SELECT %s, a.acm_id FROM %s AS a'
                ' WHERE NOT EXISTS (SELECT FROM cfl.%I AS g'
                ' WHERE g.member_entity_id = %s AND g.member_id = a.acm_id) ORDER BY a.acm_id',
                'g_' || v_member.generalization_code, v_member.entity_id, v_member.anchor,
                'g_' || v_member.generalization_code, v_member.entity_id
            );
        END IF;
        IF v_member.key_root_code IS NOT NULL
            AND omd_facts._lacks_roots(v_member.cfl, v_member.anchor_table)
        THEN
            RETURN NEXT format(
                'INSERT INTO cfl.%I (%s) SELECT %s FROM %s ORDER BY %s ON CONFLICT DO NOTHING',
                'kr_' || v_member.key_root_code, v_member.root_keys, v_member.keys,
                v_member.anchor, v_member.keys
            );
            RETURN NEXT format(
                'UPDATE %s AS a SET acm_kr_id = k.acm_id FROM cfl.%I AS k WHERE %s',
                v_member.anchor, 'kr_' || v_member.key_root_code, v_member.key_match
            );
        END IF;
    END LOOP;
END
$fill_shared$;

COMMENT ON FUNCTION omd_facts._fill_shared IS
'Returns the statements that fill generalizations and key roots with the anchors that the '
'interface p_interface_id has. Locks: none.';
