-- A buffer link is read once per wave, and a wave exists where another link has a record. A wave
-- is compared as text, with a digit before it that tells NULL, so that the planner can hash it.

CREATE OR REPLACE FUNCTION omd_decision._buffers_sql(
    p_definition jsonb,
    p_are_rejects boolean
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $buffers_sql$
DECLARE
    v_wave CONSTANT text := p_definition ->> 'wave';
    v_waves CONSTANT text := format(
        'SELECT DISTINCT u.w::text AS wave FROM (%s) AS u', omd_decision._records_sql(p_definition)
    );
    v_part record;
BEGIN
    WITH link AS (
        SELECT
            l.*,
            EXISTS (
                SELECT FROM omd_decision._columns(l.source) AS c WHERE c.column_name = v_wave
            ) AS has_wave
        FROM omd_decision._links(p_definition) AS l
        WHERE l.is_buffer
    )

    SELECT
        string_agg(
            format(
                ' LEFT JOIN (SELECT %s AS wave, count(*) AS n, count(DISTINCT s.%I) AS m,'
                ' array_agg(s.%I::bigint ORDER BY s.%I) AS a,'
                ' array_agg((s.*)::%s ORDER BY s.%I) AS r FROM %s AS s%s) AS b%s ON %s',
                CASE WHEN l.has_wave THEN format('s.%I::text', v_wave) ELSE 'NULL::text' END,
                l.arrival,
                l.arrival,
                l.arrival,
                l.source,
                l.arrival,
                l.source,
                CASE WHEN l.has_wave THEN ' GROUP BY 1' END,
                l.number,
                CASE
                    WHEN l.has_wave
                        THEN format(
                            'coalesce(''1'' || w.wave, ''0'') = coalesce(''1'' || b%s.wave, ''0'')',
                            l.number
                        )
                    ELSE 'TRUE'
                END
            ),
            '' ORDER BY l.number
        ) AS joins,
        string_agg(
            format(
                '%L, %s',
                l.parameter,
                CASE
                    WHEN l.is_array THEN format('coalesce(b%s.r, ''{}'')', l.number)
                    ELSE format('b%s.r[1]', l.number)
                END
            ),
            ', ' ORDER BY l.number
        ) AS params,
        string_agg(format('coalesce(b%s.n, 0)', l.number), ' + ' ORDER BY l.number) AS total,
        string_agg(
            format(
                'WHEN b%1$s.n > %2$s%3$s THEN %1$s',
                l.number,
                p_definition ->> 'max_array_rows',
                CASE
                    WHEN l.is_array THEN '' ELSE format(' OR coalesce(b%s.n, 0) = 0', l.number)
                END
            ),
            ' ' ORDER BY l.number
        ) AS unfit,
        string_agg(
            format('WHEN b%1$s.n <> b%1$s.m THEN %1$s', l.number), ' ' ORDER BY l.number
        ) AS doubles,
        string_agg(
            format('WHEN b%1$s.n <> b%1$s.m THEN b%1$s.a', l.number), ' ' ORDER BY l.number
        ) AS double_arrivals,
        string_agg(format('WHEN %1$s THEN b%1$s.n', l.number), ' ' ORDER BY l.number) AS lengths,
        string_agg(
            format(
                'SELECT w.wave, %L AS link, b.a, b.r FROM w INNER JOIN ('
                'SELECT %s AS wave, s.%I::bigint AS a, to_jsonb(s.*) AS r,'
                ' row_number() OVER (PARTITION BY %s ORDER BY s.%I) AS o FROM %s AS s) AS b'
                ' ON %s WHERE b.o > 1',
                l.name,
                CASE WHEN l.has_wave THEN format('s.%I::text', v_wave) ELSE 'NULL::text' END,
                l.arrival,
                CASE WHEN l.has_wave THEN format('s.%I', v_wave) ELSE 'NULL::text' END,
                l.arrival,
                l.source,
                CASE
                    WHEN l.has_wave
                        THEN 'coalesce(''1'' || w.wave, ''0'') = coalesce(''1'' || b.wave, ''0'')'
                    ELSE 'TRUE'
                END
            ),
            ' UNION ALL ' ORDER BY l.number
        ) FILTER (WHERE NOT l.is_array) AS rejects
    INTO v_part
    FROM link AS l;

    IF p_are_rejects THEN
        RETURN 'WITH w AS (' || v_waves || ') SELECT r.wave, NULL::jsonb, NULL::bigint,'
            ' NULL::bigint, r.link, r.a, ''LEFTOVER'', NULL::text, NULL::jsonb, r.r, '''''
            ' FROM (' || v_part.rejects || ') AS r ORDER BY r.wave, r.link, r.a';
    END IF;
    RETURN format(
        'SELECT w.wave, jsonb_build_object(%s) AS params, (%s)::bigint AS n, CASE %s END AS unfit,'
        ' CASE CASE %s END %s END AS length, CASE %s END AS double,'
        ' CASE %s END AS double_arrivals FROM (%s) AS w%s',
        v_part.params, v_part.total, v_part.unfit, v_part.unfit, v_part.lengths, v_part.doubles,
        v_part.double_arrivals, v_waves, v_part.joins
    );
END
$buffers_sql$;

COMMENT ON FUNCTION omd_decision._buffers_sql IS
'Returns a SELECT of the buffer links of the stage document p_definition: one row per wave with '
'their parameters, or with p_are_rejects what a buffer link that is no array has beyond its '
'first record (NULL: there can be none). Its parameters are those of _records_sql. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._buffers_sql TO omd_reader, omd_runner;
