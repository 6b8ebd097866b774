-- The rows of each link stay rows of its own type until they are called for: to make JSON of a
-- row is what costs most, and this way it is done once.

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
    v_is_key CONSTANT boolean := p_definition ->> 'mode' = 'KEY';
    v_window CONSTANT text := p_definition #>> '{window,column}';
    v_wave text;
    v_keys text;
BEGIN
    SELECT
        string_agg(
            format('s.%I%s', o.column_name, CASE o.family WHEN 'text' THEN ' COLLATE "C"' END), ''
        ) FILTER (WHERE o.place = 0),
        string_agg(
            format(
                's.%I%s AS %s', o.column_name,
                CASE o.family WHEN 'text' THEN ' COLLATE "C"' END, o.alias
            ),
            ', ' ORDER BY o.place
        ) FILTER (WHERE o.place > 0)
    INTO v_wave, v_keys
    FROM omd_decision._order_columns(p_definition) AS o;
    v_wave := coalesce(v_wave, 'NULL::text');

    RETURN (
        SELECT
            string_agg(
                format(
                    'SELECT %s AS w, %s, %s AS l, s.%I::bigint AS a, %s FROM %s AS s'
                    ' WHERE ($1::text IS NULL OR (%s)::text = $1)%s',
                    v_wave,
                    CASE
                        WHEN v_is_key THEN v_keys
                        WHEN v_batch_size = 0 THEN '0::bigint AS b'
                        ELSE format(
                            '(dense_rank() OVER (PARTITION BY %s ORDER BY s.%I) - 1) / %s AS b',
                            v_wave, l.arrival, v_batch_size
                        )
                    END,
                    l.number,
                    l.arrival,
                    (
                        SELECT
                            string_agg(
                                CASE
                                    WHEN o.number = l.number
                                        THEN format('(s.*)::%s AS r%s', o.source, o.number)
                                    ELSE format('NULL::%s AS r%s', o.source, o.number)
                                END,
                                ', ' ORDER BY o.number
                            )
                        FROM omd_decision._links(p_definition) AS o
                        WHERE NOT o.is_buffer
                    ),
                    l.source,
                    v_wave,
                    CASE
                        WHEN v_window IS NOT NULL
                            THEN format(
                                ' AND ($2::timestamptz IS NULL OR s.%1$I > $2)'
                                ' AND ($3::timestamptz IS NULL OR s.%1$I <= $3)',
                                v_window
                            )
                        ELSE ' AND ($2::timestamptz IS NULL OR TRUE) AND ($3::timestamptz IS NULL OR TRUE)'
                    END
                ),
                ' UNION ALL ' ORDER BY l.number
            )
        FROM omd_decision._links(p_definition) AS l
        WHERE NOT l.is_buffer
    );
END
$records_sql$;

COMMENT ON FUNCTION omd_decision._records_sql IS
'Returns a SELECT of the records of all links that are no buffer links of the stage document '
'p_definition: w, the wave; k1, …, the keys, or b, the batch from 0; l, the number of the link; '
'a, the arrival; r1, …, the row in the column of its link. $1 is the only wave to read, and ($2, '
'$3] the window; NULL: no bound. Locks: none.';
REVOKE ALL ON FUNCTION omd_decision._records_sql FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_decision._records_sql TO omd_reader, omd_runner;
