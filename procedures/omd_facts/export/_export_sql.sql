-- The net change of a key is known by its states at two moments, and the moments may come in either
-- order. A key that has changed between them has, at the later one, a row of some context that
-- began after the earlier one, so only such rows are looked up in the other state. The later state
-- keeps deleted rows, since R has the last values.

CREATE OR REPLACE FUNCTION omd_facts._export_sql(
    p_entity_id integer,
    p_mode text,
    p_as_of timestamptz,
    p_since timestamptz,
    p_low bigint DEFAULT NULL,
    p_high bigint DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $export_sql$
DECLARE
    v_is_forward CONSTANT boolean := p_as_of >= p_since;
    v_pieces jsonb;
    v_all CONSTANT text := $sql$
SELECT {codes}{all_new} FROM {asof}({at}) AS f WHERE TRUE{f_part}$sql$;
    v_changes CONSTANT text := $sql$
SELECT {values}, CASE WHEN NOT {is_there} THEN 'R' WHEN NOT {was_there} THEN 'N' ELSE 'A' END
    AS acm_record_ind
FROM (
    SELECT {expressions}, p.acm_id, p.acm_record_ind <> 'R' AS acm_is_there
    FROM {existence} AS p
    LEFT JOIN {anchor} AS a ON p.acm_id = a.acm_id
    {for others}
    LEFT JOIN {relation} AS {alias} ON p.acm_id = {alias}.acm_id
        AND {alias}.acm_start_dt <= {later} AND {alias}.acm_end_dt > {later}
        AND ({alias}.acm_record_ind <> 'R'
            OR (p.acm_record_ind = 'R' AND {alias}.acm_start_dt >= p.acm_start_dt))
    {end}
    WHERE p.acm_start_dt <= {later} AND p.acm_end_dt > {later}
        AND ({for contexts " OR "}{alias}.acm_start_dt > {earlier}{end}){p_part}
) AS l
LEFT JOIN {asof}({earlier}) AS e ON l.acm_id = e.acm_id{own_match}
WHERE (l.acm_is_there OR e.acm_id IS NOT NULL)
    AND (NOT l.acm_is_there OR e.acm_id IS NULL OR ({l_codes}) IS DISTINCT FROM ({e_codes}))$sql$;
BEGIN
    SELECT
        jsonb_build_object(
            'asof', format('%I.%I', 'asof_' || i.interface_code, e.entity_code),
            'at', omd_facts._moment_literal(p_as_of),
            'later', omd_facts._moment_literal(greatest(p_as_of, p_since)),
            'earlier', omd_facts._moment_literal(least(p_as_of, p_since)),
            'anchor', format('%I.%I', 'cfl_' || i.interface_code, e.anchor_table),
            'f_part', coalesce(' AND f.acm_id >= ' || p_low, '')
            || coalesce(' AND f.acm_id < ' || p_high, ''),
            'p_part', coalesce(' AND p.acm_id >= ' || p_low, '')
            || coalesce(' AND p.acm_id < ' || p_high, ''),
            'is_there', CASE WHEN v_is_forward THEN 'l.acm_is_there' ELSE '(e.acm_id IS NOT NULL)' END,
            'was_there', CASE WHEN v_is_forward THEN '(e.acm_id IS NOT NULL)' ELSE 'l.acm_is_there' END,
            'all_new', CASE p_mode
                WHEN 'CHANGES' THEN ', ''N''::text AS acm_record_ind' ELSE ''
            END
        )
        || a.pieces || c.pieces
    INTO v_pieces
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    CROSS JOIN LATERAL (
        SELECT
            jsonb_build_object(
                'codes', string_agg(
                    format(
                        '%s AS %I',
                        omd_facts._exported_sql(p_entity_id, v.name, format('f.%I', v.name)), v.name
                    ),
                    ', ' ORDER BY v.place
                ),
                'l_codes', string_agg(format('l.%I', v.name), ', ' ORDER BY v.place),
                'e_codes', string_agg(format('e.%I', v.name), ', ' ORDER BY v.place),
                'expressions', string_agg(
                    format('%s AS %I', v.expression, v.name), ', ' ORDER BY v.place
                ),
                'values', string_agg(
                    format(
                        '%s AS %I',
                        omd_facts._exported_sql(
                            p_entity_id, v.name,
                            format(
                                CASE
                                    WHEN v_is_forward THEN 'l.%1$I'
                                    ELSE '(CASE WHEN e.acm_id IS NULL THEN l.%1$I ELSE e.%1$I END)'
                                END,
                                v.name
                            )
                        ),
                        v.name
                    ),
                    ', ' ORDER BY v.place
                ),
                'own_match', coalesce(
                    string_agg(format(' AND l.%1$I = e.%1$I', v.name), '' ORDER BY v.place)
                    FILTER (WHERE t.key_position IS NOT NULL AND t.context_id IS NOT NULL),
                    ''
                )
            ) AS pieces
        FROM omd_facts._view_items(p_entity_id) AS v
        INNER JOIN omd_facts.attribute AS t
            ON t.entity_id = p_entity_id AND v.name = t.attribute_code
    ) AS a
    CROSS JOIN LATERAL (
        SELECT
            jsonb_build_object(
                'existence', min(x.relation) FILTER (WHERE x.is_existence),
                'contexts', jsonb_agg(x ORDER BY x.alias),
                'others', jsonb_agg(x ORDER BY x.alias) FILTER (WHERE NOT x.is_existence)
            ) AS pieces
        FROM (
            SELECT
                format('%I.%I', 'cfl_' || i.interface_code, c.context_table) AS relation,
                p.is_existence,
                CASE WHEN p.is_existence THEN 'p' ELSE 'c' || c.context_id END AS alias
            FROM omd_facts.context AS c
            CROSS JOIN LATERAL (
                SELECT e.entity_kind = 'CONTEXT' OR c.context_code = 'properties' AS is_existence
            ) AS p
            WHERE c.entity_id = p_entity_id
        ) AS x
    ) AS c
    WHERE e.entity_id = p_entity_id;
    RETURN omd._render(CASE WHEN p_since IS NULL THEN v_all ELSE v_changes END, v_pieces);
END
$export_sql$;

COMMENT ON FUNCTION omd_facts._export_sql IS
'Returns the query of an export of the entity p_entity_id as of p_as_of (NULL: it has no row): all'
' attributes, for CHANGES acm_record_ind, and only what differs from p_since. Locks: none.';
