-- The function runs with the rights of the caller, who reads the base table.

CREATE OR REPLACE FUNCTION omd_lineage._next_block(
    p_topic_id integer,
    p_is_preview boolean,
    OUT p_start_pos timestamptz,
    OUT p_start_id bigint,
    OUT p_end_pos timestamptz,
    OUT p_end_id bigint,
    OUT p_row_count bigint,
    OUT p_is_full boolean,
    OUT p_min_ts timestamptz,
    OUT p_max_id bigint,
    OUT p_upto timestamptz,
    OUT p_blocker text,
    OUT p_waited_for text,
    OUT p_is_quiet boolean,
    OUT p_detail text,
    OUT p_is_whole boolean
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
    v_safe omd_lineage.row_position;
    v_who text;
    v_writing text[] := '{}'::text[];
    v_triggers integer[] := '{}'::integer[];
    v_guard record;
    v_is_ahead boolean;
    v_is_seen boolean := FALSE;
    v_pos text;
    v_range text;
    v_uncounted record;
    v_stop omd_lineage.row_position;
    v_block record;
BEGIN
    p_is_full := FALSE;
    p_is_quiet := FALSE;
    p_is_whole := FALSE;
    FOR v_source IN
        SELECT d.source_topic_id, d.ordinal, d.depends_on, d.is_single, t.source_offset
        FROM omd_lineage.dependency AS d
        -- OFFSET 0: by the index, also before the first ANALYZE.
        CROSS JOIN LATERAL (
            SELECT o.processor, o.source_offset FROM omd_lineage.topic AS o
            WHERE o.topic_id = d.source_topic_id
            OFFSET 0
        ) AS t
        WHERE d.topic_id = p_topic_id
            AND t.processor IS NULL
            AND t.source_offset <> 'HAND'
        ORDER BY d.source_topic_id
    LOOP
        IF v_source.source_offset = 'TRIGGER' AND v_source.ordinal > 1 THEN
            v_triggers := v_triggers || v_source.source_topic_id;
        END IF;
        CONTINUE WHEN p_is_preview;
        v_seen := omd_lineage._probe_source(v_source.source_topic_id);
        IF v_source.ordinal = 1 AND v_source.is_single THEN
            v_safe := (v_seen.p_pos, v_seen.p_id);
            v_who := v_seen.p_who;
            v_is_seen := TRUE;
        END IF;
        IF v_seen.p_who IS NOT NULL THEN
            v_writing[v_source.ordinal] := format(
                '%s writes to %s', v_seen.p_who, v_source.depends_on
            );
        END IF;
    END LOOP;

    SELECT l.* INTO v_topic FROM omd_lineage._block_limits(p_topic_id) AS l;

    p_start_pos := (coalesce(v_topic.quiet_start, v_topic.last)).pos;
    p_start_id := (coalesce(v_topic.quiet_start, v_topic.last)).id;
    p_upto := v_topic.upto;
    p_is_whole := v_topic.upto_is_whole;
    p_blocker := v_topic.blocker_name;
    IF p_upto IS NULL THEN
        p_blocker := 'no offset: ' || p_blocker;
        p_detail := coalesce(v_writing[v_topic.blocker], p_blocker);
        RETURN;
    ELSIF p_start_pos IS NULL THEN
        p_detail := 'the topic has no offset; call omd_lineage.set_offset';
        RETURN;
    ELSIF v_topic.patient_upto IS DISTINCT FROM p_upto THEN
        p_waited_for := p_blocker;
    END IF;
    p_detail := coalesce(
        v_writing[v_topic.blocker],
        format(
            'nothing before %s (%s)',
            CASE WHEN v_topic.pos_column = '' THEN v_topic.base_id::text ELSE p_upto::text END,
            p_blocker
        )
    );

    -- From here on the offsets are known, and a look at a table shows each writer that may still
    -- bring a row from before them. The offset of a source with PROBE says by itself what is
    -- visible; that of a trigger says only what was committed, and a join that misses rows which
    -- arrive later would stay wrong.
    IF v_triggers <> '{}' AND p_waited_for IS NULL THEN
        FOR v_source IN
            SELECT b.table_code, b.pos_column, b.id_column
            FROM omd_lineage.base_table AS b
            WHERE b.topic_id = ANY(v_triggers)
        LOOP
            v_guard := omd_lineage._safe_position(
                v_source.table_code, v_source.pos_column, v_source.id_column, NOT p_is_preview
            );
            IF v_guard.p_who IS NOT NULL AND coalesce(v_guard.p_pos, '-infinity') < p_upto THEN
                p_upto := coalesce(v_guard.p_pos, '-infinity');
                p_is_whole := FALSE;
                p_detail := format('%s writes to %s', v_guard.p_who, v_source.table_code);
            END IF;
        END LOOP;
    END IF;
    -- A join that misses rows which a run has still to bring would stay wrong.
    FOR v_source IN
        SELECT d.table_code
        FROM omd_lineage.dependency AS d
        WHERE d.topic_id = p_topic_id AND d.source_kind_code = 'RUNS'
        GROUP BY d.table_code
    LOOP
        v_seen := omd.visible_until(v_source.table_code);
        IF v_seen.p_until < p_upto THEN
            p_upto := v_seen.p_until + interval '1 microsecond';
            p_is_whole := FALSE;
            p_detail := coalesce(v_seen.p_who, p_detail);
        END IF;
        -- A reload reads all rows at once, so it waits for every writer.
        IF v_source.table_code = v_topic.table_code THEN
            v_who := v_seen.p_who;
        END IF;
    END LOOP;
    IF v_topic.source_kind_code = 'FACTS' THEN
        -- Changes have a clock of their own, which never goes back: when that of the server was set
        -- back, the newest ones lie ahead of it.
        IF v_topic.is_undelayed AND p_upto = now() THEN
            p_upto := 'infinity';
        END IF;
        v_block := omd_lineage._next_changes(p_topic_id, p_start_pos, p_start_id, p_upto);
        p_end_pos := v_block.p_end_pos;
        p_end_id := v_block.p_end_id;
        p_row_count := v_block.p_key_count;
        p_is_full := v_block.p_is_full;
        p_min_ts := v_block.p_min_pos;
        p_max_id := v_block.p_end_id;
        p_detail := v_block.p_detail;
        -- What a recall took back is made again, whatever is new.
        IF v_topic.processor = 'RELOAD'
            AND omd_lineage._is_recalled(p_topic_id)
            AND NOT omd_lineage._is_closed(p_topic_id)
        THEN
            p_end_pos := coalesce(p_end_pos, p_start_pos);
            p_end_id := coalesce(p_end_id, p_start_id);
            p_detail := NULL;
            RETURN;
        END IF;
        p_is_quiet := p_end_pos IS NOT NULL AND p_row_count = 0;
        RETURN;
    END IF;
    IF v_topic.is_lake THEN
        IF v_topic.processor = 'RELOAD' THEN
            p_end_pos := CASE
                WHEN p_upto > (v_topic.last).pos OR omd_lineage._is_recalled(p_topic_id)
                    THEN greatest(p_upto, (v_topic.last).pos)
            END;
            p_end_id := CASE WHEN p_end_pos IS NOT NULL THEN 0::bigint END;
        ELSE
            v_block := omd_lake.next_block(
                v_topic.table_code, p_start_pos, p_start_id, p_upto, v_topic.maxstep
            );
            p_end_pos := v_block.p_end_pos;
            p_end_id := v_block.p_end_id;
            p_row_count := v_block.p_row_count;
            p_is_full := v_block.p_is_full;
            p_min_ts := v_block.p_min_ts;
            p_max_id := v_block.p_end_id;
            p_is_quiet := p_end_pos IS NULL AND v_block.p_who IS NULL
                AND p_upto > (v_topic.last).pos;
            IF v_block.p_who IS NOT NULL THEN
                p_detail := format('%s has not succeeded in %s', v_block.p_who, v_topic.base);
            END IF;
        END IF;
        IF p_end_pos IS NOT NULL THEN
            p_detail := NULL;
        END IF;
        RETURN;
    END IF;
    IF v_topic.source_kind_code = 'RUNS' THEN
        -- Nobody but our Modules writes it, and p_upto lies before each of their runs at work.
        v_safe := (p_upto, 9223372036854775807);
    ELSIF v_safe IS NULL OR v_topic.has_own_columns OR (v_who IS NULL AND p_upto > v_safe.pos) THEN
        v_guard := omd_lineage._safe_position(
            v_topic.table_code, v_topic.pos_column, v_topic.id_column, NOT p_is_preview
        );
        v_safe := (v_guard.p_pos, v_guard.p_id);
        v_who := v_guard.p_who;
        v_is_seen := FALSE;
    END IF;
    IF v_who IS NOT NULL THEN
        p_detail := format('%s writes to %s', v_who, v_topic.base);
    END IF;
    IF v_topic.source_kind_code = 'RUNS' THEN
        SELECT '{}'::bigint[] AS p_instance_array, NULL::text AS p_insert_instance_column,
            NULL::text AS p_who
        INTO v_uncounted;
    ELSE
        v_uncounted := omd_lineage._uncounted_instances(v_topic.table_code);
    END IF;
    IF v_uncounted.p_instance_array <> '{}' THEN
        p_detail := format('%s has not succeeded in %s', v_uncounted.p_who, v_topic.base);
    END IF;

    v_is_ahead := omd_lineage._is_ahead(
        p_upto, p_is_whole, v_topic.base_pos, v_topic.base_id, (v_topic.last).pos,
        (v_topic.last).id, v_topic.is_whole
    );
    IF v_topic.processor = 'RELOAD' THEN
        -- A reload reads all rows at once, so it waits for every writer.
        IF v_who IS NULL
            AND v_uncounted.p_instance_array = '{}'
            AND (
                v_is_ahead
                OR EXISTS (
                    SELECT FROM omd_lineage.restatement_list AS l
                    WHERE l.topic_id = p_topic_id AND l.is_ready
                )
                OR omd_lineage._is_recalled(p_topic_id)
                OR (v_topic.pos_column = '' AND v_topic.base_id > (v_topic.last).id)
            )
        THEN
            p_end_pos := greatest(p_upto, (v_topic.last).pos);
            p_end_id := CASE
                WHEN v_topic.pos_column = '' OR (p_is_whole AND v_topic.base_pos = p_end_pos)
                    THEN greatest(v_topic.base_id, (v_topic.last).id)
                ELSE 0::bigint
            END;
            p_is_whole := p_is_whole AND p_end_pos = p_upto;
            p_detail := NULL;
        END IF;
        RETURN;
    END IF;

    -- A run on Spark may have stamped rows that it has not written yet.
    IF v_topic.pos_column = 'omd_insert_datetime' AND v_topic.source_kind_code IS NULL THEN
        p_upto := least(
            p_upto,
            (omd.visible_until(v_topic.table_code)).p_until + interval '1 microsecond'
        );
        p_is_whole := p_is_whole AND p_upto = v_topic.upto;
    END IF;
    v_table_name := omd.quote_table(v_topic.table_code, 'POSTGRES');
    v_pos := omd_lineage._pos_expression(v_topic.pos_column);
    IF v_topic.pos_column = '' THEN
        v_safe := least(v_safe, ROW(p_upto, v_topic.base_id)::omd_lineage.row_position);
        v_range := format('%1$I > $2 AND %1$I <= $4', v_topic.id_column);
    ELSE
        v_range := format(
            '(%1$s, %2$I) > ($1, $2) AND (%1$s, %2$I) <= ($3, $4) AND %1$s >= $1 AND %1$s <= $3'
            ' AND %1$s %3$s $5 AND %2$I IS NOT NULL',
            v_pos, v_topic.id_column, CASE WHEN p_is_whole THEN '<=' ELSE '<' END
        );
    END IF;
    IF v_uncounted.p_instance_array <> '{}' THEN
        -- The block ends before the first row that does not count.
        EXECUTE format(
            'SELECT %1$s, %2$I FROM %3$s WHERE %4$s AND %5$I = ANY($6)'
            ' ORDER BY %1$s, %2$I LIMIT 1',
            v_pos, v_topic.id_column, v_table_name, v_range, v_uncounted.p_insert_instance_column
        )
        INTO v_stop.pos, v_stop.id
        USING p_start_pos, p_start_id, v_safe.pos, v_safe.id, p_upto,
            v_uncounted.p_instance_array;
    END IF;
    v_block := omd_lineage._walk_block(
        v_topic.table_code, v_topic.pos_column, v_topic.id_column, v_range,
        ROW(p_start_pos, p_start_id), v_safe, p_upto, v_stop, v_topic.maxstep
    );
    IF v_topic.source_kind_code = 'RUNS' AND v_block.p_row_count < v_topic.maxstep THEN
        -- No row can come before p_upto any more, so the block ends there and not at its last row.
        p_end_pos := p_upto - interval '1 microsecond';
        p_end_id := 9223372036854775807;
        p_row_count := v_block.p_row_count;
        p_max_id := v_block.p_max_id;
        p_min_ts := nullif(v_block.p_min_ts, '-infinity');
        p_is_quiet := p_row_count = 0;
        IF (p_end_pos, p_end_id) <= (p_start_pos, p_start_id) THEN
            p_end_pos := NULL;
            p_is_quiet := FALSE;
        ELSIF NOT p_is_quiet THEN
            p_detail := NULL;
        END IF;
        RETURN;
    ELSIF v_block.p_row_count = 0 THEN
        -- A writer that has ended since the first look has rows which the walk did not look for.
        p_is_quiet := v_who IS NULL
            AND v_uncounted.p_instance_array = '{}'
            AND v_is_ahead;
        RETURN;
    END IF;
    p_detail := NULL;
    p_end_pos := v_block.p_end_pos;
    p_end_id := v_block.p_end_id;
    p_row_count := v_block.p_row_count;
    p_is_full := p_row_count >= v_topic.maxstep;
    p_max_id := v_block.p_max_id;
    p_min_ts := nullif(v_block.p_min_ts, '-infinity');
    -- The last rows that it may take are in it: the look was not before the offset of the source.
    p_is_whole := p_is_whole
        AND NOT p_is_full
        AND v_who IS NULL
        AND v_uncounted.p_instance_array = '{}'
        AND NOT (
            v_is_seen AND v_safe < ROW(v_topic.base_pos, v_topic.base_id)::omd_lineage.row_position
        );
END
$next_block$;

COMMENT ON FUNCTION omd_lineage._next_block IS
'Returns the block (p_start_pos and p_start_id, p_end_pos and p_end_id] that the topic p_topic_id '
'takes next. It has at most maxstep rows, ends before p_upto and before the rows of any '
'transaction that is still writing, and holds no rows of runs that have not succeeded. '
'p_row_count is the number of its rows, p_is_full tells whether it holds maxstep of them, '
'p_min_ts is its first time and p_max_id its greatest id. When there is no block, p_end_pos is '
'NULL, p_detail says why, and p_is_quiet tells whether nothing is on its way; with p_is_quiet and '
'p_end_pos there is nothing to read up to p_end_pos and p_end_id, which the offset passes. '
'p_blocker is the dependency that limits p_upto, and p_waited_for the one that is not waited for '
'after max_wait. p_is_whole: all rows of the instant where it ends, or, when it is quiet, of '
'p_upto are there. With p_is_preview nothing is remembered. Errors: OM206: the base table, or a '
'source of the topic, can''t be read by blocks; OM212: it is locked. Locks: the offsets of its '
'sources.';
GRANT EXECUTE ON FUNCTION omd_lineage._next_block TO omd_runner, omd_admin;
