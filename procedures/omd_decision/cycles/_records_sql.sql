-- The rows of each link stay rows of its own type until they are called for: to make JSON of a
-- row is what costs most, and this way it is done once. The conditions stand outside of the
-- union, since the planner flattens a union only where its parts have none; it moves them inside
-- then.

CREATE OR REPLACE FUNCTION omd_decision._records_sql(
    p_definition jsonb
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $records_sql$
DECLARE
    v_batch_size CONSTANT bigint := omd_decision._batch_size(p_definition);
    v_window CONSTANT text := p_definition #>> '{window,column}';
    v_by_changes CONSTANT boolean := coalesce(
        p_definition #>> '{window,by}' = 'CHANGES', FALSE
    );
    v_columns text;
    v_links text;
BEGIN
    SELECT
        coalesce(
            string_agg(
                format(
                    's.%I%s AS %s', o.column_name,
                    CASE o.family WHEN 'text' THEN ' COLLATE "C"' END, o.alias
                ),
                ', ' ORDER BY o.place
            ) || ', ',
            ''
        )
        || CASE WHEN p_definition ? 'wave' THEN '' ELSE 'NULL::text AS w, ' END
        || CASE WHEN v_window IS NOT NULL THEN format('s.%I AS x, ', v_window) ELSE '' END
    INTO v_columns
    FROM omd_decision._order_columns(p_definition) AS o;
    WITH link AS (
        SELECT
            l.*,
            p_definition #> ARRAY['links', (l.number - 1)::text, 'present']
            IS NOT DISTINCT FROM 'true' AS is_present
        FROM omd_decision._links(p_definition) AS l
    )

    SELECT
        string_agg(
            format(
                'SELECT %s%s%s AS l, s.%I::bigint AS a, %s FROM %s AS s',
                v_columns,
                CASE
                    WHEN l.is_present THEN 's.acm_record_ind <> ''R'' AS y, '
                    WHEN v_by_changes THEN 'TRUE AS y, '
                END,
                l.number,
                l.arrival,
                (
                    SELECT
                        string_agg(
                            CASE
                                -- What the view has beside the columns of facts is for it alone.
                                WHEN o.is_present AND o.number = l.number
                                    THEN format(
                                        'to_jsonb(s.*) - ''acm_change_id'' AS r%s', o.number
                                    )
                                WHEN o.is_present THEN format('NULL::jsonb AS r%s', o.number)
                                WHEN o.number = l.number
                                    THEN format('(s.*)::%s AS r%s', o.source, o.number)
                                ELSE format('NULL::%s AS r%s', o.source, o.number)
                            END,
                            ', ' ORDER BY o.number
                        )
                    FROM link AS o
                    WHERE NOT o.is_buffer
                ),
                l.source
            ),
            ' UNION ALL ' ORDER BY l.number
        )
    INTO v_links
    FROM link AS l
    WHERE NOT l.is_buffer;
    RETURN format(
        'SELECT s.*%s FROM (%s) AS s WHERE ($1::text IS NULL OR s.w::text = $1)%s'
        ' AND ($2::timestamptz IS NULL OR %s) AND ($3::timestamptz IS NULL OR %s)',
        CASE
            WHEN p_definition ->> 'mode' = 'KEY' THEN ''
            WHEN v_batch_size = 0 THEN ', 0::bigint AS b'
            ELSE format(
                ', (dense_rank() OVER (PARTITION BY s.w, s.l ORDER BY s.a) - 1) / %s AS b',
                v_batch_size
            )
        END,
        v_links,
        CASE WHEN v_by_changes THEN ' AND s.y' END,
        CASE WHEN v_window IS NULL THEN 'TRUE' ELSE 's.x > $2' END,
        CASE WHEN v_window IS NULL THEN 'TRUE' ELSE 's.x <= $3' END
    );
END
$records_sql$;

COMMENT ON FUNCTION omd_decision._records_sql IS
'Returns a SELECT of the records of all links that are no buffer links of the stage document '
'p_definition: w, the wave; k1, …, the keys, or b, the batch from 0; l, the number of the link; '
'a, the arrival; r1, …, the row in the column of its link. $1 is the only wave to read, and ($2, '
'$3] the window; NULL: no bound. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._records_sql TO omd_reader, omd_runner;
