-- Which block of its base table a topic takes next, and why none: the planner. With the rights of
-- the caller, who reads the base table.

CREATE OR REPLACE FUNCTION omd_lineage._next_block(
    p_topic_id integer,
    p_is_preview boolean,
    OUT start_value timestamptz,
    OUT start_id bigint,
    OUT end_value timestamptz,
    OUT end_id bigint,
    OUT row_count bigint,
    OUT is_full boolean,
    OUT min_ts timestamptz,
    OUT max_id bigint,
    OUT upto timestamptz,
    OUT blocker text,
    OUT waited_for text,
    OUT is_quiet boolean,
    OUT detail text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $next_block$
DECLARE
    v_topic record;
    v_table_name text;
    v_source record;
    v_seen record;
    v_limit timestamptz;
    v_writing text;
    v_safe omd_lineage.row_position;
    v_guard record;
    v_writer record;
    v_range text;
    v_uncounted record;
    v_stop omd_lineage.row_position;
    v_next omd_lineage.row_position;
    v_walk refcursor;
    v_moved bigint;
BEGIN
    is_full := FALSE;
    is_quiet := FALSE;
    IF NOT p_is_preview THEN
        FOR v_source IN
            SELECT d.source_topic_id, d.ordinal, d.depends_on, t.source_offset
            FROM omd_lineage.dependency AS d
            INNER JOIN omd_lineage.topic AS t ON d.source_topic_id = t.topic_id
            WHERE d.topic_id = p_topic_id
                AND t.processor IS NULL
                AND t.source_offset IN ('PROBE', 'CLOCK')
            ORDER BY d.source_topic_id
        LOOP
            v_seen := omd_lineage._probe_source(v_source.source_topic_id);
            IF v_source.ordinal = 1 THEN
                v_safe := (v_seen.ts, v_seen.id);
            ELSIF v_seen.who IS NOT NULL THEN
                v_limit := least(v_limit, coalesce(v_seen.ts, '-infinity'));
                v_writing := format('%s writes to %s', v_seen.who, v_source.depends_on);
            END IF;
        END LOOP;
    END IF;

    SELECT
        t.processor, t.maxstep, o.last, o.quiet_start,
        t.pos_column IS NOT NULL OR t.id_column IS NOT NULL AS has_own_columns,
        t.depends_on[1] AS base, b.table_code, b.pos_column, b.id_column,
        t.depends_on[lag.blocker] AS blocker,
        omd_lineage._horizon(
            CASE WHEN lag.is_complete THEN lag.least_ts END, lag.base_ts, t.delay, t.max_wait,
            o.waiting_since
        ) AS upto,
        omd_lineage._horizon(
            CASE WHEN lag.is_complete THEN lag.least_ts END, NULL, t.delay, NULL, NULL
        ) AS patient_upto
    INTO v_topic
    FROM omd_lineage.topic AS t
    INNER JOIN omd_lineage.offsets AS o USING (topic_id)
    INNER JOIN omd_lineage.base_table AS b USING (topic_id)
    CROSS JOIN LATERAL (
        SELECT
            count(*) = count(d.ts) AS is_complete,
            min(d.ts) AS least_ts,
            min(d.ts) FILTER (WHERE d.ordinal = 1) AS base_ts,
            (array_agg(d.ordinal ORDER BY d.ts NULLS FIRST, d.ordinal))[1] AS blocker
        FROM omd_lineage.dependency_offsets AS d
        WHERE d.topic_id = t.topic_id
    ) AS lag
    WHERE t.topic_id = p_topic_id;

    start_value := (coalesce(v_topic.quiet_start, v_topic.last)).ts;
    start_id := (coalesce(v_topic.quiet_start, v_topic.last)).id;
    upto := v_topic.upto;
    blocker := v_topic.blocker;
    IF upto IS NULL THEN
        blocker := 'no offset: ' || blocker;
        detail := blocker;
        RETURN;
    ELSIF start_value IS NULL THEN
        detail := 'the topic has no offset: call omd_lineage.set_offset';
        RETURN;
    ELSIF v_topic.patient_upto IS DISTINCT FROM upto THEN
        waited_for := blocker;
    END IF;
    detail := format('nothing before %s (%s)', upto, blocker);
    -- A join with rows that are not there yet would be wrong for good.
    IF v_limit < upto AND waited_for IS NULL THEN
        upto := v_limit;
        detail := v_writing;
    END IF;

    v_table_name := omd.quote_table(v_topic.table_code, 'POSTGRES');
    IF v_safe IS NULL OR v_topic.has_own_columns THEN
        v_guard := omd_lineage._safe_position(
            v_topic.table_code, v_topic.pos_column, v_topic.id_column, NOT p_is_preview
        );
        v_safe := (v_guard.ts, v_guard.id);
    END IF;
    v_uncounted := omd_lineage._uncounted_instances(v_topic.table_code);
    IF v_uncounted.instance_array <> '{}' THEN
        detail := format('%s has not succeeded in %s', v_uncounted.who, v_topic.base);
    END IF;
    v_range := format(
        '(%1$I, %2$I) > ($1, $2) AND (%1$I, %2$I) <= ($3, $4) AND %1$I >= $1 AND %1$I <= $3'
        ' AND %1$I < $5',
        v_topic.pos_column, v_topic.id_column
    );
    IF v_uncounted.instance_array <> '{}' THEN
        -- The block ends before the first row that does not count.
        EXECUTE format(
            'SELECT %1$I, %2$I FROM %3$s WHERE %4$s AND %5$I = ANY($6)'
            ' ORDER BY %1$I, %2$I LIMIT 1',
            v_topic.pos_column, v_topic.id_column, v_table_name, v_range,
            v_uncounted.insert_instance_column
        )
        INTO v_stop.ts, v_stop.id
        USING start_value, start_id, v_safe.ts, v_safe.id, upto,
            v_uncounted.instance_array;
        IF v_stop IS NOT NULL THEN
            v_range := v_range || format(
                ' AND (%1$I, %2$I) < (%3$L, %4$L)',
                v_topic.pos_column, v_topic.id_column, v_stop.ts, v_stop.id
            );
        END IF;
    END IF;
    -- One walk along the index, as far as there is room.
    OPEN v_walk SCROLL FOR EXECUTE format(
        'SELECT %1$I, %2$I FROM %3$s WHERE %4$s ORDER BY %1$I, %2$I',
        v_topic.pos_column, v_topic.id_column, v_table_name, v_range
    )
    USING start_value, start_id, v_safe.ts, v_safe.id, upto;
    IF v_topic.processor <> 'RELOAD' THEN
        FETCH v_walk INTO min_ts, end_id;
    END IF;
    IF v_topic.processor = 'RELOAD' OR min_ts IS NULL THEN
        CLOSE v_walk;
        v_writer := omd_lineage._oldest_writer(v_table_name::regclass);
        IF v_writer.who IS NOT NULL THEN
            detail := format('%s writes to %s', v_writer.who, v_topic.base);
        END IF;
        is_quiet := v_writer.who IS NULL
            AND v_uncounted.instance_array = '{}'
            AND upto > (v_topic.last).ts;
        -- A reload reads all rows at once, so it waits for every writer.
        IF v_topic.processor = 'RELOAD' AND is_quiet THEN
            end_value := upto;
            end_id := 0::bigint;
        ELSE
            end_id := NULL;
        END IF;
        RETURN;
    END IF;
    detail := NULL;
    end_value := min_ts;
    row_count := 1;
    IF v_topic.maxstep > 1 THEN
        MOVE FORWARD (least(v_topic.maxstep - 1, 2147483647)::integer) IN v_walk;
        GET DIAGNOSTICS v_moved = ROW_COUNT;
        row_count := 1 + v_moved;
        IF row_count < v_topic.maxstep THEN
            FETCH PRIOR FROM v_walk INTO end_value, end_id;
        ELSE
            FETCH RELATIVE 0 FROM v_walk INTO end_value, end_id;
        END IF;
    END IF;
    is_full := row_count = v_topic.maxstep;
    -- Rows in the same place as the last one belong to the block, as many as they are.
    WHILE is_full LOOP
        FETCH NEXT FROM v_walk INTO v_next.ts, v_next.id;
        EXIT WHEN NOT FOUND OR (v_next.ts, v_next.id) <> (end_value, end_id);
        row_count := row_count + 1;
    END LOOP;
    CLOSE v_walk;
    EXECUTE format(
        'SELECT max(%2$I) FROM %3$s WHERE (%1$I, %2$I) > ($1, $2) AND (%1$I, %2$I) <= ($3, $4)'
        ' AND %1$I >= $1 AND %1$I <= $3',
        v_topic.pos_column, v_topic.id_column, v_table_name
    )
    INTO max_id
    USING start_value, start_id, end_value, end_id;
END
$next_block$;

COMMENT ON FUNCTION omd_lineage._next_block IS
'The block (start_value and start_id, end_value and end_id] that the topic p_topic_id takes next: '
'at most maxstep rows, before upto, behind no transaction that is still writing, without rows of '
'runs that have not succeeded. Answers its rows, whether it is full, its first time and greatest '
'id; or, without an end, in detail why there is none. blocker: the dependency that holds upto. '
'waited_for: the one that is passed over after max_wait. is_quiet: nothing is on its way. '
'p_is_preview: look, and remember nothing. Errors: OM206. Locks: the offsets of its sources. SQL '
'ETL scheduler, "Templates".';
REVOKE ALL ON FUNCTION omd_lineage._next_block FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._next_block TO omd_runner, omd_admin;
