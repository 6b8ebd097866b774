-- As omd_delivery has it: a subject is {"interface", "entity", "keys", "targets": [{"entity",
-- "columns"}]}, and only what the registry has is put into a statement. A context that is an entity
-- of its own has the key of its parent in the anchor.

CREATE OR REPLACE FUNCTION omd_facts._subject_sql(
    p_subject jsonb
)
RETURNS TABLE (
    entity_id integer,
    entity_code text,
    entity_kind text,
    anchor_entity_id integer,
    load_order integer,
    cfl text,
    anchor text,
    context_table text,
    keys_sql text,
    key_list text,
    own_list text,
    match_sql text,
    slice_match text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $subject_sql$
DECLARE
    v_key record;
BEGIN
    v_key := omd_delivery.subject_key(p_subject ->> 'interface', p_subject ->> 'entity', NULL);
    RETURN QUERY
    WITH stored AS (
        SELECT
            a.entity_id,
            a.attribute_code,
            a.key_position,
            a.context_id,
            CASE
                WHEN a.context_id IS NOT NULL THEN format('o.%I', a.attribute_code)
                ELSE format('a.%I', coalesce(p.attribute_code, a.attribute_code))
            END AS expression
        FROM omd_facts.interface AS i
        INNER JOIN omd_facts.entity AS e USING (interface_id)
        INNER JOIN omd_facts.attribute AS a USING (entity_id)
        LEFT JOIN omd_facts.link AS l
            ON e.entity_kind = 'CONTEXT'
                AND e.entity_id = l.entity_id
                AND e.anchor_entity_id = l.parent_entity_id
                AND a.attribute_code = ANY(l.child_columns)
                AND a.context_id IS NULL
        LEFT JOIN omd_facts.attribute AS p
            ON l.parent_entity_id = p.entity_id
                AND a.attribute_code = l.child_columns[p.key_position]
        WHERE i.interface_code = p_subject ->> 'interface'
    )

    SELECT
        e.entity_id,
        e.entity_code,
        e.entity_kind,
        e.anchor_entity_id,
        e.load_order,
        'cfl_' || (p_subject ->> 'interface'),
        format('%I.%I', 'cfl_' || (p_subject ->> 'interface'), e.anchor_table),
        (
            SELECT format('%I.%I', 'cfl_' || (p_subject ->> 'interface'), x.context_table)
            FROM omd_facts.context AS x
            WHERE x.context_id = coalesce(
                max(s.context_id),
                (
                    SELECT y.context_id FROM omd_facts.context AS y
                    WHERE y.entity_id = e.entity_id AND e.entity_kind = 'CONTEXT'
                )
            )
        ),
        (
            SELECT format('jsonb_to_recordset($1) AS k (%s)', string_agg(
                format('%I %s', n.code, n.data_type), ', ' ORDER BY n.place
            ))
            FROM unnest(v_key.p_key, v_key.p_key_types) WITH ORDINALITY AS n (
                code, data_type, place
            )
        ),
        (
            SELECT string_agg(format('k.%I', n.code), ', ' ORDER BY n.place)
            FROM unnest(v_key.p_key) WITH ORDINALITY AS n (code, place)
        ),
        (
            SELECT string_agg(
                format('%s AS %I', w.expression, w.attribute_code), ', ' ORDER BY w.key_position
            )
            FROM stored AS w
            WHERE w.entity_id = e.entity_id AND w.key_position IS NOT NULL
        ),
        string_agg(format('%s = k.%I', s.expression, c.key_code), ' AND ' ORDER BY c.place),
        coalesce(
            string_agg(
                format('s.own_key ->> %L = j.key ->> %L', c.code, c.key_code), ' AND '
                ORDER BY c.place
            ) FILTER (WHERE e.entity_kind = 'CONTEXT' AND s.context_id IS NOT NULL),
            'TRUE'
        )
    FROM omd_facts.interface AS i
    INNER JOIN omd_facts.entity AS e USING (interface_id)
    INNER JOIN LATERAL jsonb_array_elements(p_subject -> 'targets') WITH ORDINALITY AS t (item, n)
        ON e.entity_code = t.item ->> 'entity'
    CROSS JOIN LATERAL unnest(
        ARRAY(SELECT jsonb_array_elements_text(t.item -> 'columns')), v_key.p_key
    ) WITH ORDINALITY AS c (code, key_code, place)
    INNER JOIN stored AS s ON e.entity_id = s.entity_id AND c.code = s.attribute_code
    WHERE i.interface_code = p_subject ->> 'interface'
    GROUP BY e.entity_id, t.n
    ORDER BY e.load_order DESC, e.entity_id, t.n;
END
$subject_sql$;

COMMENT ON FUNCTION omd_facts._subject_sql IS
'Returns the pieces of SQL from which statements about the subject p_subject are composed, a row '
'per target, children first: k is one of its keys with typed values, j.key the same as JSON, a a '
'row of the anchor, o one of context_table, s a change of a row of a context that is an entity. '
'Locks: none.';
