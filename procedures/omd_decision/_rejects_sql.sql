-- Which code a record gets depends on what follows: a failed attempt is a KEY_MISMATCH where the
-- link that lacks a record has a greater key still to come, and a record that no attempt has
-- taken is one where a later attempt has looked at its link. Both are the greatest sort key of a
-- wave.

CREATE OR REPLACE FUNCTION omd_decision._rejects_sql(
    p_definition jsonb
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $rejects_sql$
DECLARE
    v_batch_size CONSTANT bigint := omd_decision._batch_size(p_definition);
    v_is_key CONSTANT boolean := p_definition ->> 'mode' = 'KEY';
    v_columns text;
    v_part record;
BEGIN
    SELECT
        CASE
            WHEN v_is_key THEN string_agg(o.alias, ', ' ORDER BY o.place) FILTER (WHERE o.place > 0)
            ELSE 'b'
        END
    INTO v_columns
    FROM omd_decision._order_columns(p_definition) AS o;

    WITH link AS (
        SELECT
            l.*,
            -- The links that are no arrays before this one.
            (
                SELECT string_agg(format('m%s > 0', o.number), ' AND ')
                FROM omd_decision._links(p_definition) AS o
                WHERE o.number BETWEEN 2 AND l.number - 1 AND NOT o.is_array AND NOT o.is_buffer
            ) AS is_reached
        FROM omd_decision._links(p_definition) AS l
        WHERE NOT l.is_buffer
    )

    SELECT
        string_agg(
            format(
                'count(*) FILTER (WHERE l = %1$s) OVER (PARTITION BY w, %2$s) AS m%1$s',
                l.number, v_columns
            ),
            ', ' ORDER BY l.number
        ) AS counts,
        coalesce(
            'CASE ' || string_agg(
                format('WHEN m%1$s = 0 THEN %1$s', l.number), ' ' ORDER BY l.number
            ) FILTER (WHERE l.number > 1 AND NOT l.is_array) || ' END',
            'NULL::integer'
        ) AS failed,
        coalesce(
            'CASE ' || string_agg(
                format('WHEN m%1$s < o THEN %1$s', l.number), ' ' ORDER BY l.number
            ) FILTER (WHERE l.number > 1 AND NOT l.is_array) || ' END',
            'NULL::integer'
        ) AS failed_by_place,
        coalesce(
            min(l.number) FILTER (WHERE l.number > 1 AND NOT l.is_array)::text, 'NULL::integer'
        ) AS first_single,
        string_agg(
            format(
                'max(sk) FILTER (WHERE m%1$s > 0) OVER (PARTITION BY w) AS h%1$s,'
                ' max(sk) FILTER (WHERE m1 > 0%2$s) OVER (PARTITION BY w) AS v%1$s',
                l.number, ' AND ' || l.is_reached
            ),
            ', ' ORDER BY l.number
        ) AS bounds,
        string_agg(
            format('WHEN %1$s THEN h%1$s', l.number), ' ' ORDER BY l.number
        ) AS greatest_keys,
        string_agg(
            format('WHEN %1$s THEN v%1$s', l.number), ' ' ORDER BY l.number
        ) AS reached_keys,
        string_agg(
            format('WHEN %s THEN %L', l.number, l.name), ' ' ORDER BY l.number
        ) AS names,
        string_agg(
            format('WHEN %1$s THEN to_jsonb(r%1$s)', l.number), ' ' ORDER BY l.number
        ) AS records,
        coalesce(
            string_agg(l.number::text, ', ') FILTER (WHERE NOT l.is_array AND l.number > 1), '0'
        ) AS singles
    INTO v_part
    FROM link AS l;

    IF NOT v_is_key THEN
        RETURN format(
            'SELECT f.w::text, NULL::jsonb, CASE WHEN f.m1 > 0 THEN f.b + 1 END, NULL::bigint,'
            ' CASE f.l %1$s END, f.a, ''LEFTOVER'','
            ' CASE WHEN f.m1 > 0 THEN CASE f.failed %1$s END END, NULL::jsonb,'
            ' CASE f.l %2$s END, f.sk'
            ' FROM (SELECT m.*, %3$s AS failed FROM ('
            'SELECT u.*, %4$s AS sk, %5$s FROM (%6$s) AS u) AS m) AS f'
            ' WHERE f.m1 = 0 OR f.failed IS NOT NULL'
            ' ORDER BY f.sk, f.b, f.l, f.a',
            v_part.names,
            v_part.records,
            v_part.failed,
            omd_decision._wave_sort_key_sql(p_definition, 'u'),
            v_part.counts,
            omd_decision._records_sql(p_definition)
        );
    END IF;
    -- o is the place of a record in its link and key, and with batch size 1 that of the attempt
    -- which takes it; c is this attempt, or NULL: none has taken it.
    RETURN format(
        'SELECT f.w::text, %1$s, f.c, NULL::bigint, CASE f.l %2$s END, f.a,'
        ' CASE WHEN CASE WHEN f.c IS NULL THEN f.sk < CASE f.l %3$s END'
        ' ELSE f.sk < CASE f.cause %4$s END END THEN ''KEY_MISMATCH'' ELSE ''LEFTOVER'' END,'
        ' CASE WHEN f.c IS NOT NULL THEN CASE f.cause %2$s END END, NULL::jsonb,'
        ' CASE f.l %5$s END, f.sk'
        ' FROM (SELECT g.*, CASE'
        ' WHEN g.m1 = 0 THEN NULL'
        ' WHEN g.l = 1 THEN CASE WHEN %6$s = 0 THEN 1 ELSE g.o END'
        ' WHEN g.l IN (%7$s) THEN CASE WHEN g.o <= CASE WHEN %6$s = 0 THEN 1 ELSE g.m1 END'
        ' AND g.by_place > g.l THEN g.o END'
        ' WHEN g.l < g.failed THEN 1 END AS c,'
        ' CASE WHEN g.failed IS NULL THEN %8$s'
        ' WHEN g.l = 1 AND %6$s > 0 OR g.l IN (%7$s) THEN g.by_place ELSE g.failed END AS cause'
        ' FROM (SELECT m.*, %9$s AS failed, %10$s AS by_place, %11$s'
        ' FROM (SELECT u.*, %12$s AS sk,'
        ' row_number() OVER (PARTITION BY w, %13$s, l ORDER BY a) AS o, %14$s'
        ' FROM (%15$s) AS u) AS m) AS g'
        ' WHERE g.m1 = 0 OR g.failed IS NOT NULL'
        ' OR (g.l = 1 AND g.o > 1 AND %6$s = 1 AND %8$s IS NOT NULL)) AS f'
        ' ORDER BY f.sk, f.l, f.a',
        omd_decision._key_sql(p_definition, 'f'),
        v_part.names,
        v_part.reached_keys,
        v_part.greatest_keys,
        v_part.records,
        v_batch_size,
        v_part.singles,
        v_part.first_single,
        v_part.failed,
        v_part.failed_by_place,
        v_part.bounds,
        omd_decision._wave_sort_key_sql(p_definition, 'u'),
        v_columns,
        v_part.counts,
        omd_decision._records_sql(p_definition)
    );
END
$rejects_sql$;

COMMENT ON FUNCTION omd_decision._rejects_sql IS
'Returns a SELECT of the records that a run of the stage document p_definition rejects, in '
'BATCH, or in KEY with batch size 0 or 1; its columns are those of _cycles, and its parameters '
'those of _records_sql. Locks: none.';
REVOKE ALL ON FUNCTION omd_decision._rejects_sql FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_decision._rejects_sql TO omd_reader, omd_runner;
