-- Members of other interfaces may join at any time, so the view is made of what is deployed now.

CREATE OR REPLACE FUNCTION omd_facts._shared_views(
    p_interface_id integer
)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $shared_views$
DECLARE
    v_view record;
    v_name text;
    v_comment text;
BEGIN
    FOR v_view IN
        WITH member AS (
            SELECT
                e.entity_id,
                e.generalization_code,
                e.key_root_code,
                i.interface_code,
                e.entity_code,
                format('%I.%I', 'cfl_' || i.interface_code, e.anchor_table) AS anchor,
                (
                    SELECT string_agg(
                        format('%L, a.%I', a.attribute_code, a.attribute_code), ', '
                        ORDER BY a.key_position
                    )
                    FROM omd_facts.attribute AS a
                    WHERE a.entity_id = e.entity_id AND a.key_position IS NOT NULL
                ) AS pairs,
                (
                    SELECT string_agg(
                        format('k.key_%s = a%s.%I', a.key_position, e.entity_id, a.attribute_code),
                        ' AND ' ORDER BY a.key_position
                    )
                    FROM omd_facts.attribute AS a
                    WHERE a.entity_id = e.entity_id AND a.key_position IS NOT NULL
                ) AS key_match,
                (
                    SELECT string_agg('k.key_' || a.key_position, ', ' ORDER BY a.key_position)
                    FROM omd_facts.attribute AS a
                    WHERE a.entity_id = e.entity_id AND a.key_position IS NOT NULL
                ) AS root_keys
            FROM omd_facts.entity AS e
            INNER JOIN omd_facts.interface AS i USING (interface_id)
        )

        SELECT
            m.generalization_code AS code,
            string_agg(
                format(
                    'SELECT g.acm_id, %L::text AS interface_code, %L::text AS entity_code,'
                    ' g.member_id, jsonb_build_object(%s) AS business_key, a.acm_exists_ind'
                    ' FROM cfl.%I AS g INNER JOIN %s AS a ON g.member_id = a.acm_id'
                    ' WHERE g.member_entity_id = %s',
                    m.interface_code, m.entity_code, m.pairs, 'g_' || m.generalization_code,
                    m.anchor, m.entity_id
                ),
                E'\nUNION ALL\n' ORDER BY m.entity_id
            ) AS query
        FROM member AS m
        WHERE m.generalization_code IN (
            SELECT e.generalization_code FROM omd_facts.entity AS e
            WHERE e.interface_id = p_interface_id
        )
        GROUP BY m.generalization_code
        UNION ALL
        SELECT
            m.key_root_code,
            format(
                E'SELECT k.acm_id, %s, jsonb_strip_nulls(jsonb_build_object(%s)) AS members,'
                ' greatest(%s, 0::smallint) AS acm_exists_ind\nFROM cfl.%I AS k%s',
                min(m.root_keys),
                string_agg(
                    format('%L, a%s.acm_id', m.interface_code || '.' || m.entity_code, m.entity_id),
                    ', ' ORDER BY m.entity_id
                ),
                string_agg(format('a%s.acm_exists_ind', m.entity_id), ', ' ORDER BY m.entity_id),
                'kr_' || m.key_root_code,
                string_agg(
                    format(E'\nLEFT JOIN %s AS a%s ON %s', m.anchor, m.entity_id, m.key_match),
                    '' ORDER BY m.entity_id
                )
            )
        FROM member AS m
        WHERE m.key_root_code IN (
            SELECT e.key_root_code FROM omd_facts.entity AS e
            WHERE e.interface_id = p_interface_id
        )
        GROUP BY m.key_root_code
    LOOP
        v_name := format('gdal.%I', v_view.code);
        v_comment := format('The members of %s. Generated: %s.', v_view.code, md5(v_view.query));
        CONTINUE WHEN obj_description(to_regclass(v_name), 'pg_class') = v_comment;
        RETURN NEXT format(E'CREATE OR REPLACE VIEW %s AS\n%s', v_name, v_view.query);
        RETURN NEXT format('COMMENT ON VIEW %s IS %L', v_name, v_comment);
        IF to_regclass(v_name) IS NULL THEN
            RETURN NEXT format('GRANT SELECT ON %s TO omd_data_reader', v_name);
        END IF;
    END LOOP;
END
$shared_views$;

COMMENT ON FUNCTION omd_facts._shared_views IS
'Returns the statements that bring the views of the generalizations and key roots of the '
'interface p_interface_id to what is deployed. Locks: none.';
