-- All records of one wave and key, or of one batch, meet in one row, so that a cycle costs one
-- step of the loop that reads it, however many records it has.

CREATE OR REPLACE FUNCTION omd_decision._cells_sql(
    p_definition jsonb
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $cells_sql$
DECLARE
    v_batch_size CONSTANT bigint := omd_decision._batch_size(p_definition);
    v_is_key CONSTANT boolean := p_definition ->> 'mode' = 'KEY';
    v_is_single CONSTANT boolean := v_is_key AND v_batch_size = 1;
    v_columns text;
    v_order text;
    v_part record;
BEGIN
    -- The planner sorts once for grouping and order when the same level has both. A wave that the
    -- stage does not have would cost time in each comparison.
    SELECT
        concat_ws(
            ', ', string_agg(o.alias, ', ' ORDER BY o.place), CASE WHEN NOT v_is_key THEN 'b' END
        ),
        concat_ws(
            ', ',
            string_agg(
                o.alias
                || CASE o.direction WHEN 'DESC' THEN ' DESC NULLS LAST' ELSE ' NULLS FIRST' END,
                ', ' ORDER BY o.place
            ),
            CASE WHEN NOT v_is_key THEN 'b' END
        )
    INTO v_columns, v_order
    FROM omd_decision._order_columns(p_definition) AS o;

    SELECT
        string_agg(
            format(
                'count(DISTINCT a) FILTER (WHERE l = %1$s) AS m%1$s,'
                ' array_agg(a ORDER BY a) FILTER (WHERE l = %1$s) AS a%1$s,'
                ' array_agg(r%1$s ORDER BY a) FILTER (WHERE l = %1$s) AS r%1$s',
                l.number
            ),
            ', ' ORDER BY l.number
        ) AS aggregates,
        string_agg('c.m' || l.number, ' + ' ORDER BY l.number) AS total,
        -- What a call needs: the primary link and each one that is no array have a record.
        string_agg(
            'c.m' || l.number || ' > 0', ' AND ' ORDER BY l.number
        ) FILTER (WHERE l.number = 1 OR NOT l.is_array) AS is_complete,
        string_agg(format('%L, ', l.parameter) || v.inputs, ', ' ORDER BY l.number) AS inputs,
        string_agg(format('%L, ', l.parameter) || v.records, ', ' ORDER BY l.number) AS records,
        string_agg('c.m' || l.number, ', ' ORDER BY l.number)
            FILTER (WHERE l.is_array AND NOT (v_is_single AND l.number = 1)) AS lengths,
        string_agg('c.m' || l.number, ', ' ORDER BY l.number)
            FILTER (WHERE v_is_key AND NOT l.is_array AND l.number > 1) AS singles,
        string_agg(
            CASE
                WHEN v_is_key AND NOT l.is_array AND l.number > 1
                    THEN format('to_jsonb(c.#%s)', l.number)
                ELSE 'NULL'
            END,
            ', ' ORDER BY l.number
        ) AS more,
        string_agg(format('to_jsonb(c.#%s)', l.number), ', ' ORDER BY l.number) AS rest,
        string_agg('c.m' || l.number, ', ' ORDER BY l.number) AS counts,
        string_agg(
            format('WHEN cardinality(c.a%1$s) <> c.m%1$s THEN %1$s', l.number),
            ' ' ORDER BY l.number
        ) AS unfit,
        string_agg(
            format('WHEN cardinality(c.a%1$s) <> c.m%1$s THEN c.a%1$s', l.number),
            ' ' ORDER BY l.number
        ) AS unfit_arrivals
    INTO v_part
    FROM omd_decision._links(p_definition) AS l
    CROSS JOIN LATERAL (
        SELECT
            CASE
                WHEN NOT l.is_array THEN format('c.a%s[1]', l.number)
                WHEN v_is_single AND l.number = 1 THEN 'c.a1[1:1]'
                ELSE format('coalesce(c.a%s, ''{}'')', l.number)
            END AS inputs,
            CASE
                WHEN NOT l.is_array THEN format('c.r%s[1]', l.number)
                WHEN v_is_single AND l.number = 1 THEN 'c.r1[1:1]'
                ELSE format('coalesce(c.r%s, ''{}'')', l.number)
            END AS records
    ) AS v
    WHERE NOT l.is_buffer;

    RETURN format(
        'SELECT %19$s AS wave, %1$s AS key, %2$s::bigint + 1 AS cycle_no, c.n,'
        ' CASE WHEN c.n <> %3$s THEN CASE %4$s END END AS unfit,'
        ' CASE WHEN c.n <> %3$s THEN CASE %5$s END END AS unfit_arrivals,'
        ' CASE WHEN %6$s THEN greatest(%7$s)::bigint END AS longest,'
        ' CASE WHEN %6$s THEN jsonb_build_object(%8$s) END AS inputs,'
        ' CASE WHEN %6$s THEN jsonb_build_object(%9$s) END AS params,'
        ' CASE WHEN %6$s THEN greatest(%10$s)::integer END AS calls,'
        ' CASE WHEN (%6$s) IS NOT TRUE OR %13$s > 1 THEN ARRAY[%14$s]::jsonb[]'
        ' WHEN greatest(%10$s) > 1 THEN ARRAY[%11$s]::jsonb[] END AS arrivals,'
        ' CASE WHEN (%6$s) IS NOT TRUE OR %13$s > 1 THEN ARRAY[%12$s]::jsonb[]'
        ' WHEN greatest(%10$s) > 1 THEN ARRAY[%20$s]::jsonb[] END AS records,'
        ' CASE WHEN (%6$s) IS NOT TRUE OR %13$s > 1 THEN ARRAY[%21$s]::bigint[] END AS counts,'
        ' CASE WHEN (%6$s) IS NOT TRUE OR %13$s > 1 THEN %22$s END AS sort_key'
        ' FROM (SELECT %15$s, count(*) AS n, %16$s FROM (%17$s) AS u'
        ' GROUP BY %15$s ORDER BY %18$s) AS c',
        omd_decision._key_sql(p_definition, 'c'),
        CASE WHEN v_is_key THEN '0' ELSE 'c.b' END,
        v_part.total,
        v_part.unfit,
        v_part.unfit_arrivals,
        v_part.is_complete,
        coalesce(v_part.lengths, '0'),
        v_part.inputs,
        v_part.records,
        coalesce(v_part.singles, '1'),
        replace(v_part.more, '#', 'a'),
        replace(v_part.rest, '#', 'r'),
        CASE WHEN v_is_single THEN 'c.m1' ELSE '1' END,
        replace(v_part.rest, '#', 'a'),
        v_columns,
        v_part.aggregates,
        omd_decision._records_sql(p_definition),
        v_order,
        CASE WHEN p_definition ? 'wave' THEN 'c.w::text' ELSE 'NULL::text' END,
        replace(v_part.more, '#', 'r'),
        v_part.counts,
        omd_decision._wave_sort_key_sql(p_definition, 'c')
    );
END
$cells_sql$;

COMMENT ON FUNCTION omd_decision._cells_sql IS
'Returns a SELECT of the cells of the stage document p_definition, in order: the records of one '
'wave and key, or of one batch, of all links that are no buffer links. inputs and params are '
'those of the first call, NULL when the cell lacks a record for one; calls is the number of '
'calls of the first attempt. arrivals and records are the lists of the links, in their order, '
'where more than the first call needs them: those of the links that are no arrays, or all of '
'them, with their counts and the sort key, where there are rejects or further primary records. '
'unfit is the number of a link with a NULL or double arrival. Its parameters are those of '
'_records_sql. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._cells_sql TO omd_reader, omd_runner;
