-- A subject is what provenance erases: {"interface", "entity", "keys": [{attribute: value}],
-- "targets": [{"entity", "columns"}]}. The columns of a target hold the key of the subject, in its
-- order. Only what the registry has is put into a statement.

CREATE OR REPLACE FUNCTION omd_delivery._subject_sql(
    p_subject jsonb
)
RETURNS TABLE (
    entity_id integer,
    entity_code text,
    keys_sql text,
    key_list text,
    match_sql text,
    staged_match text,
    raw_match text,
    sample_match text,
    context_match text,
    lvl_table text,
    delta_table text,
    key_columns text
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
    SELECT
        e.entity_id,
        e.entity_code,
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
        string_agg(format('l.%I = k.%I', c.code, c.key_code), ' AND ' ORDER BY c.place),
        CASE WHEN bool_and(s.is_comparable) THEN
            string_agg(
                replace(s.template, '{s}', 'l.' || quote_ident(a.source_column)), ' AND '
                ORDER BY c.place
            )
        END,
        CASE WHEN bool_and(s.is_comparable) THEN
            string_agg(
                replace(s.template, '{s}', format('(l.raw ->> %L)', a.source_column)), ' AND '
                ORDER BY c.place
            )
        END,
        string_agg(
            format(
                '(l.record_key -> %1$L = j.key -> %2$L OR l.record_key ->> %1$L = j.key ->> %2$L)',
                c.code, c.key_code
            ),
            ' AND ' ORDER BY c.place
        ),
        string_agg(
            format(
                '(n.key -> %1$L = j.key -> %2$L OR n.key ->> %1$L = j.key ->> %2$L)',
                c.code, c.key_code
            ),
            ' AND ' ORDER BY c.place
        ),
        format('%I.%I', i.lvl_schema, e.entity_code),
        format('%I.%I', i.work_schema, 'delta_' || e.entity_code),
        (
            SELECT string_agg(format('l.%I', o.attribute_code), ', ' ORDER BY o.key_position)
            FROM omd_delivery.attribute AS o
            WHERE o.entity_id = e.entity_id AND o.key_position IS NOT NULL
        )
    FROM omd_delivery.interface AS i
    INNER JOIN omd_delivery.entity AS e USING (interface_id)
    INNER JOIN jsonb_to_recordset(p_subject -> 'targets') AS t (entity text, columns text[])
        ON e.entity_code = t.entity
    CROSS JOIN LATERAL unnest(t.columns, v_key.p_key) WITH ORDINALITY AS c (code, key_code, place)
    INNER JOIN omd_delivery.attribute AS a
        ON e.entity_id = a.entity_id AND c.code = a.attribute_code
    CROSS JOIN LATERAL (
        -- As far as a staged text can be compared without Spark.
        SELECT
            a.source_column IS NOT NULL AND a.computed IS NULL AND a.format IS NULL
            AS is_comparable,
            replace(
                CASE omd_delivery._type_kind(a.data_type)
                    WHEN 'text' THEN '{s} = k.{k}'
                    WHEN 'boolean' THEN
                        '(CASE WHEN lower(btrim({s})) IN (''t'', ''true'', ''y'', ''yes'', ''1'')'
                        ' THEN TRUE WHEN lower(btrim({s})) IN (''f'', ''false'', ''n'', ''no'','
                        ' ''0'') THEN FALSE END) = k.{k}'
                    WHEN 'date' THEN 'btrim({s}) = to_char(k.{k}, ''YYYY-MM-DD'')'
                    WHEN 'timestamp' THEN
                        'starts_with(replace(btrim({s}), ''T'', '' ''),'
                        ' to_char(k.{k}, ''YYYY-MM-DD HH24:MI:SS''))'
                    WHEN 'timestamptz' THEN
                        'starts_with(replace(btrim({s}), ''T'', '' ''),'
                        ' to_char(k.{k} AT TIME ZONE ''UTC'', ''YYYY-MM-DD HH24:MI:SS''))'
                    ELSE
                        '(CASE WHEN btrim({s}) ~ ''^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)$'''
                        ' THEN btrim({s})::numeric = k.{k}::numeric END)'
                END,
                '{k}',
                quote_ident(c.key_code)
            ) AS template
    ) AS s
    WHERE i.interface_code = p_subject ->> 'interface'
    GROUP BY i.interface_id, e.entity_id, t.columns
    ORDER BY e.entity_id, t.columns;
END
$subject_sql$;

COMMENT ON FUNCTION omd_delivery._subject_sql IS
'Returns the pieces of SQL from which statements about the subject p_subject are composed, a row '
'per target: k is one of its keys with typed values, j.key the same as JSON, l a row of the '
'target in LVL, in a delta, in staging or of a sample, n.key a key in a context. staged_match and '
'raw_match are NULL where what was staged can''t be compared without Spark. Locks: none.';
