-- One look at the table serves all runs, and answers no more positions than the bounds of the
-- windows part: which of them hold the rows is asked later. A caller who knows how many rows
-- a run has gets them by the time of the run, where the position is a time with an index and the
-- stamp has none: when as many are there, there are no others. It reads a table of users with the
-- rights of the caller. Where these don't suffice, or its session calls no code of users
-- (omd.user_code is off), nobody knows where the rows are.

CREATE OR REPLACE FUNCTION omd_provenance._row_positions(
    p_instance_array bigint[],
    p_table_code text,
    p_stamp_columns text[],
    p_pos_column text,
    p_id_column text,
    p_pos_bounds timestamptz[],
    p_id_bounds bigint[],
    p_known jsonb
)
RETURNS TABLE (
    module_instance_id bigint,
    row_count bigint,
    stamp_count bigint,
    positions jsonb
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_sort = off
AS $row_positions$
DECLARE
    v_relation CONSTANT oid := omd.target_relation(p_table_code);
    v_stamps text[];
    v_pos text;
    v_id text;
    v_is_by_time boolean;
    v_query text;
    v_key text[];
    v_left bigint[] := p_instance_array;
BEGIN
    IF current_setting('omd.user_code', TRUE) = 'off' THEN
        RETURN;
    END IF;
    SELECT
        array_agg(
            format('s.%I', a.attname) ORDER BY array_position(p_stamp_columns, a.attname::text)
        )
        FILTER (WHERE a.attname = ANY(p_stamp_columns)),
        min(format('s.%I::timestamptz', a.attname)) FILTER (WHERE a.attname = p_pos_column),
        min(format('s.%I::bigint', a.attname)) FILTER (WHERE a.attname = p_id_column)
    INTO v_stamps, v_pos, v_id
    FROM pg_attribute AS a
    WHERE a.attrelid = v_relation AND a.attnum > 0 AND NOT a.attisdropped;
    IF v_stamps IS NULL
        OR coalesce(v_pos, v_id) IS NULL
        OR (p_pos_column <> '' AND v_pos IS NULL)
    THEN
        RETURN;
    END IF;
    v_pos := coalesce(v_pos, '''-infinity''::timestamptz');
    v_id := coalesce(v_id, '0::bigint');
    -- Rows between two bounds are in the same windows; those at a bound are parted by their ids.
    -- OFFSET 0: the place of a row is computed once. Rows are many and groups are few, which the
    -- planner can't know: to sort the rows would cost more than to find them.
    v_query := 'SELECT g.run, sum(g.row_count)::bigint, sum(g.stamp_count)::bigint,'
        ' jsonb_agg(jsonb_build_object(''pos'', g.pos, ''id'', g.id))'
        ' FROM (SELECT i.run, min(i.pos) AS pos, min(i.id) AS id, count(*) AS row_count,'
        ' count(*) FILTER (WHERE i.is_stamp) AS stamp_count'
        ' FROM (SELECT p.*, width_bucket(p.pos, $2) AS place FROM (%s) AS p OFFSET 0) AS i'
        ' GROUP BY i.run, i.place, CASE WHEN i.pos = ($2)[i.place] THEN coalesce('
        '2 * width_bucket(i.id, $3) + (i.id = ($3)[width_bucket(i.id, $3)])::integer, -1)'
        ' END) AS g'
        ' GROUP BY g.run';
    BEGIN
        IF p_known IS NOT NULL AND cardinality(v_stamps) = 1 THEN
            SELECT
                bool_or(a.attname = p_pos_column AND a.atttypid = 'timestamptz'::regtype)
                AND NOT bool_or(a.attname = ANY(p_stamp_columns))
            INTO v_is_by_time
            FROM pg_index AS x
            INNER JOIN pg_attribute AS a ON x.indrelid = a.attrelid AND x.indkey[0] = a.attnum
            WHERE x.indrelid = v_relation AND x.indisvalid AND x.indpred IS NULL;
        END IF;
        IF v_is_by_time THEN
            FOR module_instance_id, row_count, stamp_count, positions IN EXECUTE format(
                v_query,
                format(
                    'SELECT r.id AS run, TRUE AS is_stamp, x.pos, x.id'
                    ' FROM omd.ledger_run AS m'
                    ' CROSS JOIN LATERAL (SELECT m.module_instance_id AS id) AS r'
                    ' CROSS JOIN LATERAL (SELECT %1$s AS pos, %2$s AS id FROM %3$s AS s'
                    ' WHERE %4$s = r.id AND s.%5$I >= m.start_datetime'
                    ' AND s.%5$I <= m.end_datetime OFFSET 0) AS x'
                    ' WHERE m.module_instance_id = ANY($1)',
                    v_pos, v_id, p_table_code, v_stamps[1], p_pos_column
                )
            ) USING p_instance_array, p_pos_bounds, p_id_bounds
            LOOP
                v_key := ARRAY[module_instance_id::text, v_relation::text];
                IF row_count = (p_known #>> v_key)::bigint THEN
                    v_left := array_remove(v_left, module_instance_id);
                    RETURN NEXT;
                END IF;
            END LOOP;
        END IF;
        IF v_left <> '{}' THEN
            RETURN QUERY EXECUTE format(
                v_query,
                CASE cardinality(v_stamps)
                    WHEN 1 THEN format(
                        'SELECT %1$s::bigint AS run, TRUE AS is_stamp, %2$s AS pos, %3$s AS id'
                        ' FROM %4$s AS s WHERE %1$s = ANY($1)',
                        v_stamps[1], v_pos, v_id, p_table_code
                    )
                    ELSE format(
                        'SELECT r.run, r.is_stamp, x.pos, x.id FROM ('
                        'SELECT %1$s::bigint AS stamp, %2$s::bigint AS other, %3$s AS pos,'
                        ' %4$s AS id FROM %5$s AS s WHERE %1$s = ANY($1) OR %2$s = ANY($1)) AS x'
                        ' CROSS JOIN LATERAL (SELECT x.stamp, TRUE UNION ALL SELECT x.other, FALSE'
                        ' WHERE x.other IS DISTINCT FROM x.stamp) AS r (run, is_stamp)'
                        ' WHERE r.run = ANY($1)',
                        v_stamps[1], v_stamps[2], v_pos, v_id, p_table_code
                    )
                END
            ) USING v_left, p_pos_bounds, p_id_bounds;
        END IF;
    EXCEPTION
        WHEN insufficient_privilege OR undefined_table OR undefined_column
            OR datatype_mismatch OR cannot_coerce OR undefined_function
            OR feature_not_supported OR lock_not_available
        THEN
            RETURN;
    END;
END
$row_positions$;

COMMENT ON FUNCTION omd_provenance._row_positions IS
'Returns where the rows of p_table_code are that bear a stamp of p_instance_array in one of '
'p_stamp_columns: how many (row_count), how many in the first of these columns (stamp_count), and '
'positions (objects of pos, id), one for all rows that no window between p_pos_bounds and '
'p_id_bounds parts. A run without rows has none, and no run has any where the caller may not '
'read, or the setting omd.user_code is off. p_pos_column, p_id_column: the columns of positions. '
'p_pos_bounds, p_id_bounds: the bounds of the windows, in order. p_known: how many rows each run '
'has, {run: {oid of the table: rows}}; NULL: that is not known. Locks: none but those of reading.';
GRANT EXECUTE ON FUNCTION omd_provenance._row_positions TO omd_reader, omd_data_reader;
