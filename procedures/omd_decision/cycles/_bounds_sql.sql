-- Which code a record gets depends on what follows: a failed attempt is a KEY_MISMATCH where the
-- link that lacks a record has a greater key still to come, and a record that no attempt has
-- taken is one where a later attempt looks at its link. Both are the greatest sort key of a
-- wave.

CREATE OR REPLACE FUNCTION omd_decision._bounds_sql(
    p_definition jsonb
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $bounds_sql$
DECLARE
    v_columns text := (
        SELECT string_agg(o.alias, ', ' ORDER BY o.place)
        FROM omd_decision._order_columns(p_definition) AS o
    );
    v_wave text := CASE WHEN p_definition ? 'wave' THEN 'm.w' ELSE 'NULL::text' END;
    v_part record;
BEGIN
    SELECT
        string_agg(
            format('count(*) FILTER (WHERE l = %1$s) AS m%1$s', l.number), ', ' ORDER BY l.number
        ) AS counts,
        string_agg(
            format('max(m.sk) FILTER (WHERE m.m%s > 0)', l.number), ', ' ORDER BY l.number
        ) AS greatest_keys,
        string_agg(
            format(
                'max(m.sk) FILTER (WHERE m.m1 > 0%s)',
                -- The links before it that are no arrays have a record.
                (
                    SELECT string_agg(format(' AND m.m%s > 0', o.number), '')
                    FROM omd_decision._links(p_definition) AS o
                    WHERE o.number BETWEEN 2 AND l.number - 1
                        AND NOT o.is_array
                        AND NOT o.is_buffer
                )
            ),
            ', ' ORDER BY l.number
        ) AS reached_keys
    INTO v_part
    FROM omd_decision._links(p_definition) AS l
    WHERE NOT l.is_buffer;
    RETURN format(
        'SELECT (%1$s)::text, ARRAY[%2$s], ARRAY[%3$s] FROM (SELECT %4$s, %5$s AS sk, %6$s'
        ' FROM (%7$s) AS u GROUP BY %4$s) AS m GROUP BY %1$s ORDER BY %1$s NULLS FIRST',
        v_wave,
        v_part.greatest_keys,
        v_part.reached_keys,
        v_columns,
        omd_decision._wave_sort_key_sql(p_definition, 'u'),
        v_part.counts,
        omd_decision._records_sql(p_definition)
    );
END
$bounds_sql$;

COMMENT ON FUNCTION omd_decision._bounds_sql IS
'Returns a SELECT of the waves of the stage document p_definition, which is in KEY, in order: '
'for each link that is no buffer link the greatest sort key of its records, and that of the keys '
'whose attempt looks at it. Its parameters are those of _records_sql. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._bounds_sql TO omd_reader, omd_runner;
