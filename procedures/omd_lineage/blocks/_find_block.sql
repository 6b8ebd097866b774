-- First the sources are probed, then the offsets are read, and then each writer is looked for: in
-- this order none is missed. A writer found lowers upto (_lower has the rule). The end of the block
-- follows from the kind of the base table. The function runs with the rights of the caller, who
-- reads the base table.

CREATE OR REPLACE FUNCTION omd_lineage._find_block(
    p_topic_id integer,
    p_is_preview boolean
)
RETURNS omd_lineage.block
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $find_block$
DECLARE
    v_block omd_lineage.block;
    v_topic omd_lineage.block_limits;
    v_source record;
    v_look record;
    v_seen omd_lineage.row_position;
    v_who text;
    v_writing text[] := '{}'::text[];
    v_triggers integer[] := '{}'::integer[];
    v_runs text[] := '{}'::text[];
    v_table_code text;
BEGIN
    v_block.is_full := FALSE;
    v_block.is_quiet := FALSE;
    FOR v_source IN
        SELECT
            d.source_topic_id, d.ordinal, d.depends_on, d.is_single, d.table_code,
            d.source_kind_code,
            CASE
                WHEN t.processor IS NULL AND t.source_offset <> 'HAND' THEN t.source_offset
            END AS source_offset
        FROM omd_lineage.dependency AS d
        -- OFFSET 0: by the index, also before the first ANALYZE.
        LEFT JOIN LATERAL (
            SELECT o.processor, o.source_offset FROM omd_lineage.topic AS o
            WHERE o.topic_id = d.source_topic_id
            OFFSET 0
        ) AS t ON TRUE
        WHERE d.topic_id = p_topic_id
        ORDER BY d.source_topic_id
    LOOP
        IF v_source.source_kind_code = 'RUNS' AND v_source.table_code <> ALL(v_runs) THEN
            v_runs := v_runs || v_source.table_code;
        END IF;
        CONTINUE WHEN v_source.source_offset IS NULL;
        IF v_source.source_offset = 'TRIGGER' AND v_source.ordinal > 1 THEN
            v_triggers := v_triggers || v_source.source_topic_id;
        END IF;
        CONTINUE WHEN p_is_preview;
        v_look := omd_lineage._probe_source(v_source.source_topic_id);
        IF v_source.ordinal = 1 AND v_source.is_single THEN
            v_seen := (v_look.p_pos, v_look.p_id);
            v_who := v_look.p_who;
        END IF;
        IF v_look.p_who IS NOT NULL THEN
            v_writing[v_source.ordinal] := format(
                '%s writes to %s', v_look.p_who, v_source.depends_on
            );
        END IF;
    END LOOP;

    v_topic := omd_lineage._what_limits(p_topic_id);

    v_block.start_pos := (coalesce(v_topic.quiet_start, v_topic.last)).pos;
    v_block.start_id := (coalesce(v_topic.quiet_start, v_topic.last)).id;
    v_block.upto := v_topic.upto;
    v_block.is_whole := v_topic.upto_is_whole;
    v_block.blocker := v_topic.blocker_name;
    IF v_block.upto IS NULL THEN
        v_block.blocker := 'no offset: ' || v_block.blocker;
        v_block.detail := coalesce(v_writing[v_topic.blocker], v_block.blocker);
        RETURN v_block;
    ELSIF v_block.start_pos IS NULL THEN
        v_block.detail := 'the topic has no offset; call omd_lineage.set_offset';
        RETURN v_block;
    ELSIF v_topic.patient_upto IS DISTINCT FROM v_block.upto THEN
        v_block.waited_for := v_block.blocker;
    END IF;
    v_block.detail := coalesce(
        v_writing[v_topic.blocker],
        format(
            'nothing before %s (%s)',
            CASE
                WHEN v_topic.pos_column = '' THEN v_topic.base_id::text ELSE v_block.upto::text
            END,
            v_block.blocker
        )
    );

    -- From here on the offsets are known, and a look at a table shows each writer that may still
    -- bring a row from before them. The offset of a source with PROBE says by itself what is
    -- visible; that of a trigger says only what was committed, and a join that misses rows which
    -- arrive later would stay wrong.
    IF v_triggers <> '{}' AND v_block.waited_for IS NULL THEN
        FOR v_source IN
            SELECT b.table_code, b.pos_column, b.id_column
            FROM omd_lineage.base_table AS b
            WHERE b.topic_id = ANY(v_triggers)
        LOOP
            v_look := omd_lineage._safe_position(
                v_source.table_code, v_source.pos_column, v_source.id_column, NOT p_is_preview
            );
            IF v_look.p_who IS NOT NULL THEN
                v_block := omd_lineage._lower(
                    v_block,
                    coalesce(v_look.p_pos, '-infinity'),
                    format('%s writes to %s', v_look.p_who, v_source.table_code)
                );
            END IF;
        END LOOP;
    END IF;
    -- A join that misses rows which a run has still to bring would stay wrong.
    FOREACH v_table_code IN ARRAY v_runs LOOP
        v_look := omd.visible_until(v_table_code);
        v_block := omd_lineage._lower(
            v_block, v_look.p_until + interval '1 microsecond', v_look.p_who
        );
        IF v_table_code = v_topic.table_code THEN
            v_who := v_look.p_who;
        END IF;
    END LOOP;

    IF v_topic.source_kind_code = 'FACTS' THEN
        RETURN omd_lineage._block_of_changes(v_topic, v_block);
    ELSIF v_topic.is_lake THEN
        RETURN omd_lineage._block_of_commits(v_topic, v_block);
    ELSIF v_topic.source_kind_code = 'RUNS' THEN
        RETURN omd_lineage._block_of_runs(v_topic, v_block, v_who);
    END IF;
    RETURN omd_lineage._block_of_rows(v_topic, v_block, v_seen, v_who, p_is_preview);
END
$find_block$;

COMMENT ON FUNCTION omd_lineage._find_block IS
'Returns the block that the topic p_topic_id takes next. It has at most maxstep rows, ends before '
'the rows of any transaction that is still writing, and holds no rows of runs that have not '
'succeeded. When there is none, end_pos is NULL, detail says why, and is_quiet tells whether '
'nothing is on its way; with is_quiet and end_pos there is nothing to read up to there. With '
'p_is_preview nothing is remembered. Errors: OM206: the base table, or a source of the topic, '
'can''t be read by blocks; OM212: it is locked. Locks: the offsets of its sources.';
GRANT EXECUTE ON FUNCTION omd_lineage._find_block TO omd_runner, omd_admin;
