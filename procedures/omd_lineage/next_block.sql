-- Which block of its base table a topic takes next, and why none: the planner. With the rights of
-- the caller, who reads the base table. Errors: OM206. Locks: the offsets of the sources that it
-- looks at, unless p_is_preview.

CREATE OR REPLACE FUNCTION omd_lineage.next_block(
    p_topic_id integer,
    p_is_preview boolean,
    OUT start_position omd_lineage.row_position,
    OUT end_position omd_lineage.row_position,
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
    v_least timestamptz;
    v_table_name text;
    v_safe omd_lineage.row_position;
    v_writer record;
    v_uncounted record;
    v_columns text;
    v_ties bigint;
BEGIN
    is_full := FALSE;
    is_quiet := FALSE;
    IF NOT p_is_preview THEN
        PERFORM omd_lineage.probe_source(d.source_topic_id)
        FROM omd_lineage.dependency AS d
        INNER JOIN omd_lineage.topic AS s ON d.source_topic_id = s.topic_id
        WHERE d.topic_id = p_topic_id
            AND s.processor IS NULL
            AND s.source_offset IN ('PROBE', 'CLOCK')
        ORDER BY d.source_topic_id;
    END IF;

    SELECT
        t.processor, t.maxstep, o.last, o.quiet_start,
        base.depends_on AS base, base.table_code, base.ts AS base_ts,
        coalesce(t.pos_column, s.pos_column, 'pos') AS pos_column,
        coalesce(t.id_column, s.id_column, 'id') AS id_column,
        lag.is_complete, lag.least_ts, lag.blocker,
        omd_lineage.horizon(
            CASE WHEN lag.is_complete THEN lag.least_ts END, base.ts, t.delay, t.max_wait,
            o.waiting_since
        ) AS upto,
        omd_lineage.horizon(
            CASE WHEN lag.is_complete THEN lag.least_ts END, NULL, t.delay, NULL, NULL
        ) AS patient_upto
    INTO v_topic
    FROM omd_lineage.topic AS t
    INNER JOIN omd_lineage.offsets AS o USING (topic_id)
    INNER JOIN omd_lineage.dependency_offsets AS base USING (topic_id)
    LEFT JOIN LATERAL (
        SELECT source.pos_column, source.id_column
        FROM omd_lineage.dependency AS d
        INNER JOIN omd_lineage.topic AS source ON d.source_topic_id = source.topic_id
        WHERE d.topic_id = t.topic_id AND d.ordinal = 1 AND source.processor IS NULL
        LIMIT 1
    ) AS s ON TRUE
    CROSS JOIN LATERAL (
        SELECT
            bool_and(d.ts IS NOT NULL) AS is_complete,
            min(d.ts) AS least_ts,
            (array_agg(d.depends_on ORDER BY d.ts NULLS FIRST, d.ordinal))[1] AS blocker
        FROM omd_lineage.dependency_offsets AS d
        WHERE d.topic_id = t.topic_id
    ) AS lag
    WHERE t.topic_id = p_topic_id AND base.topic_id = p_topic_id AND base.ordinal = 1;

    start_position := coalesce(v_topic.quiet_start, v_topic.last);
    upto := v_topic.upto;
    blocker := v_topic.blocker;
    IF upto IS NULL THEN
        blocker := 'no offset: ' || blocker;
        detail := blocker;
        RETURN;
    ELSIF start_position IS NULL THEN
        detail := 'the topic has no offset: call omd_lineage.set_offset';
        RETURN;
    ELSIF v_topic.patient_upto IS DISTINCT FROM upto THEN
        waited_for := blocker;
    END IF;
    detail := format('nothing before %s (%s)', upto, blocker);

    -- First where the table ends, then who is at work: in this order nobody is overlooked.
    v_table_name := omd.quote_table(v_topic.table_code, 'POSTGRES');
    v_safe := omd_lineage.newest_row(
        v_topic.table_code, v_topic.pos_column, v_topic.id_column
    );
    IF v_safe IS NOT NULL AND NOT p_is_preview THEN
        PERFORM omd_lineage.see_position(v_table_name, v_safe);
    END IF;
    v_writer := omd_lineage.oldest_writer(v_table_name::regclass);
    IF v_writer.since IS NOT NULL THEN
        v_safe := NULL;
        SELECT s.position INTO v_safe FROM omd_lineage.seen_position AS s
        WHERE s.table_name = v_table_name AND s.seen_at <= v_writer.since
        ORDER BY s.seen_at DESC
        LIMIT 1;
        detail := format('%s writes to %s', v_writer.who, v_topic.base);
    END IF;
    v_uncounted := omd_lineage.uncounted_instances(v_topic.table_code);
    IF v_uncounted.instance_array <> '{}' THEN
        detail := format('%s has not succeeded in %s', v_uncounted.who, v_topic.base);
    END IF;
    is_quiet := v_writer.since IS NULL AND v_uncounted.instance_array = '{}'
        AND upto > (v_topic.last).ts;

    IF v_topic.processor = 'RELOAD' THEN
        IF is_quiet THEN
            end_position := ROW(upto, 0);
        END IF;
        RETURN;
    ELSIF v_safe IS NULL THEN
        RETURN;
    END IF;

    v_columns := CASE
        WHEN v_uncounted.instance_array = '{}' THEN 'FALSE'
        ELSE format('coalesce(b.%I = ANY($7), FALSE)', v_uncounted.insert_instance_column)
    END;
    EXECUTE format(
        $query$
        WITH candidate AS MATERIALIZED (
            SELECT b.%1$I AS pos, b.%2$I AS id, %4$s AS is_uncounted
            FROM %3$s AS b
            WHERE (b.%1$I, b.%2$I) > ($1, $2) AND b.%1$I >= $1
                AND (b.%1$I, b.%2$I) <= ($3, $4) AND b.%1$I <= $3
                AND b.%1$I < $5
            ORDER BY b.%1$I, b.%2$I
            LIMIT $6
        ),
        stop AS (
            SELECT c.pos, c.id FROM candidate AS c
            WHERE c.is_uncounted
            ORDER BY c.pos, c.id
            LIMIT 1
        ),
        counted AS (
            SELECT c.pos, c.id FROM candidate AS c
            WHERE NOT EXISTS (SELECT FROM stop AS s WHERE (s.pos, s.id) <= (c.pos, c.id))
        ),
        block AS (
            SELECT count(*) AS n, min(pos) AS min_pos, max(pos) AS max_pos, max(id) AS max_id
            FROM counted
        ),
        ending AS (
            SELECT c.id, count(*) AS n
            FROM counted AS c
            INNER JOIN block AS b ON c.pos = b.max_pos
            GROUP BY c.id
            ORDER BY c.id DESC
            LIMIT 1
        )
        SELECT b.n, b.min_pos, b.max_pos, b.max_id, b.n = $6, e.id, e.n
        FROM block AS b
        LEFT JOIN ending AS e ON TRUE
        $query$,
        v_topic.pos_column, v_topic.id_column, v_table_name, v_columns
    )
    INTO row_count, min_ts, end_position.ts, max_id, is_full, end_position.id,
        v_ties
    USING start_position.ts, start_position.id, v_safe.ts, v_safe.id, upto, v_topic.maxstep,
        v_uncounted.instance_array;

    IF row_count = 0 THEN
        end_position := NULL;
        row_count := NULL;
    ELSE
        detail := NULL;
        IF is_full THEN
            -- Rows in the same place as the last one belong to the block, as many as they are.
            EXECUTE format(
                'SELECT $1 + count(*) FROM %3$s AS b WHERE b.%1$I = $2 AND b.%2$I = $3',
                v_topic.pos_column, v_topic.id_column, v_table_name
            )
            INTO row_count
            USING row_count - v_ties, end_position.ts, end_position.id;
        END IF;
    END IF;
END
$next_block$;

COMMENT ON FUNCTION omd_lineage.next_block IS
'The block (start_position, end_position] that the topic p_topic_id takes next: at most maxstep '
'rows, before upto, behind no transaction that is still writing, without rows of runs that have '
'not succeeded. Answers its rows, whether it is full, its first time and greatest id; or, without '
'an end, in detail why there is none. blocker: the dependency that holds upto. waited_for: the '
'one that is passed over after max_wait. is_quiet: nothing is on its way. p_is_preview: look, and '
'remember nothing. Errors: OM206. Locks: the offsets of its sources. SQL ETL scheduler, '
'"Templates".';
REVOKE ALL ON FUNCTION omd_lineage.next_block FROM PUBLIC;
