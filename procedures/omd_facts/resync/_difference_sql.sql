-- What a source says once is not compared: an immutable attribute keeps what was given first. A
-- supertype that LVL has as a subtype alone exists with it.

CREATE OR REPLACE FUNCTION omd_facts._difference_sql(
    p_entity_id integer
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $difference_sql$
DECLARE
    v_pieces jsonb;
BEGIN
    SELECT
        jsonb_build_object(
            'lvl', format('%I.%I', 'lvl_' || i.interface_code, e.entity_code),
            'view', format('%I.%I', 'gdal_' || i.interface_code, e.entity_code),
            'delta', format('%I.%I', 'wrk_' || i.interface_code, 'delta_' || e.entity_code),
            'open', quote_literal(omd_facts._open_end()) || '::timestamptz',
            'subtypes', (
                SELECT
                    jsonb_agg(
                        jsonb_build_object(
                            'subtype', format('%I.%I', 'lvl_' || i.interface_code, s.entity_code),
                            'match', (
                                SELECT string_agg(
                                    format(
                                        ' AND s.%I = f.%I',
                                        r.child_columns[k.key_position], k.attribute_code
                                    ),
                                    '' ORDER BY k.key_position
                                )
                                FROM omd_facts._references(s.entity_id) AS r
                                INNER JOIN omd_facts.attribute AS k
                                    ON r.ancestor_id = k.entity_id
                                        AND k.key_position IS NOT NULL
                                WHERE r.ancestor_id = e.entity_id
                            )
                        )
                        ORDER BY s.entity_id
                    )
                FROM omd_facts.entity AS s
                WHERE s.interface_id = e.interface_id
                    AND s.entity_id <> e.entity_id
                    AND e.entity_id = ANY(omd_facts._with_supertypes(ARRAY[s.entity_id]))
            ),
            'columns', string_agg(quote_ident(a.attribute_code), ', ' ORDER BY a.ordinal),
            'values', string_agg(
                format(
                    'CASE WHEN l.acm_is_there THEN l.%1$I ELSE f.%1$I END AS %1$I', a.attribute_code
                ),
                ', ' ORDER BY a.ordinal
            ),
            'key_match', string_agg(
                format('l.%1$I = f.%1$I', a.attribute_code), ' AND ' ORDER BY a.key_position
            ) FILTER (WHERE a.key_position IS NOT NULL),
            'differs', coalesce(
                string_agg(
                    format('l.%1$I IS DISTINCT FROM f.%1$I', a.attribute_code), ' OR '
                    ORDER BY a.ordinal
                ) FILTER (
                    WHERE a.key_position IS NULL AND c.context_kind IS DISTINCT FROM 'immutable'
                ),
                'FALSE'
            )
        )
    INTO v_pieces
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    INNER JOIN omd_facts.attribute AS a ON e.entity_id = a.entity_id
    LEFT JOIN omd_facts.context AS c ON a.context_id = c.context_id
    WHERE e.entity_id = p_entity_id
    GROUP BY i.interface_code, e.entity_id;
    RETURN omd._render(
        $sql$
SELECT
    CASE WHEN f.acm_is_there IS NULL THEN 'N' WHEN l.acm_is_there IS NULL THEN 'R' ELSE 'A' END AS acm_ind,
    {values}
FROM (
    SELECT TRUE AS acm_is_there, {columns} FROM {lvl}
    WHERE acm_end_dt = {open} AND acm_record_ind <> 'R'
) AS l
FULL JOIN (SELECT TRUE AS acm_is_there, {columns} FROM {view}) AS f ON {key_match}
WHERE f.acm_is_there IS NULL
    OR (
        l.acm_is_there IS NULL
        {for subtypes}
        AND NOT EXISTS (
            SELECT FROM {subtype} AS s
            WHERE s.acm_end_dt = {open} AND s.acm_record_ind <> 'R'{match}
        )
        {end}
    )
    OR (l.acm_is_there AND ({differs}))$sql$,
        v_pieces
    );
END
$difference_sql$;

COMMENT ON FUNCTION omd_facts._difference_sql IS
'Returns the query for what must change in the current facts of the entity p_entity_id, so that '
'they are its current rows in LVL: acm_ind and the attributes. Locks: none.';
