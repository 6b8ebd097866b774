-- p_seen is what was found when the offset of the source was probed. It is found again where it
-- says less than a look now: for a table with columns of the topic's own, and when the source has
-- come further since. The function runs with the rights of the caller, who reads the base table.

CREATE OR REPLACE FUNCTION omd_lineage._block_of_rows(
    p_topic omd_lineage.block_limits,
    p_block omd_lineage.block,
    p_seen omd_lineage.row_position,
    p_who text,
    p_is_preview boolean
)
RETURNS omd_lineage.block
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $block_of_rows$
DECLARE
    v_safe omd_lineage.row_position := p_seen;
    v_who text := p_who;
    v_is_seen boolean := NOT (p_seen IS NULL);
    v_guard record;
    v_uncounted record;
    v_is_written boolean;
    v_pos text;
    v_range text;
    v_stop omd_lineage.row_position;
    v_walked record;
BEGIN
    IF v_safe IS NULL
        OR p_topic.has_own_columns
        OR (v_who IS NULL AND p_block.upto > v_safe.pos)
    THEN
        v_guard := omd_lineage._safe_position(
            p_topic.table_code, p_topic.pos_column, p_topic.id_column, NOT p_is_preview
        );
        v_safe := (v_guard.p_pos, v_guard.p_id);
        v_who := v_guard.p_who;
        v_is_seen := FALSE;
    END IF;
    IF v_who IS NOT NULL THEN
        p_block.detail := format('%s writes to %s', v_who, p_topic.base);
    END IF;
    v_uncounted := omd_lineage._uncounted_instances(p_topic.table_code);
    IF v_uncounted.p_instance_array <> '{}' THEN
        p_block.detail := format('%s has not succeeded in %s', v_uncounted.p_who, p_topic.base);
    END IF;
    v_is_written := v_who IS NOT NULL OR v_uncounted.p_instance_array <> '{}';
    IF p_topic.processor = 'RELOAD' THEN
        RETURN omd_lineage._block_of_all_rows(p_topic, p_block, v_is_written);
    END IF;

    -- A writer that has ended since the first look has rows which the walk does not look for.
    p_block.is_quiet := NOT v_is_written
        AND omd_lineage._is_ahead(
            p_block.upto, p_block.is_whole, p_topic.base_pos, p_topic.base_id,
            (p_topic.last).pos, (p_topic.last).id, p_topic.is_whole
        );
    -- A run on Spark may have stamped rows that it has not written yet.
    IF p_topic.pos_column = 'omd_insert_datetime' THEN
        p_block := omd_lineage._lower(
            p_block,
            (omd.visible_until(p_topic.table_code)).p_until + interval '1 microsecond',
            NULL
        );
    END IF;
    IF p_topic.pos_column = '' THEN
        v_safe := least(v_safe, ROW(p_block.upto, p_topic.base_id)::omd_lineage.row_position);
    END IF;
    v_range := omd_lineage._block_range(p_topic.pos_column, p_topic.id_column, p_block.is_whole);
    IF v_uncounted.p_instance_array <> '{}' THEN
        -- The block ends before the first row that does not count.
        v_pos := omd_lineage._pos_expression(p_topic.pos_column);
        EXECUTE format(
            'SELECT %1$s, %2$I FROM %3$s WHERE %4$s AND %5$I = ANY($6)'
            ' ORDER BY %1$s, %2$I LIMIT 1',
            v_pos, p_topic.id_column, omd.quote_table(p_topic.table_code, 'POSTGRES'), v_range,
            v_uncounted.p_insert_instance_column
        )
        INTO v_stop.pos, v_stop.id
        USING p_block.start_pos, p_block.start_id, v_safe.pos, v_safe.id, p_block.upto,
            v_uncounted.p_instance_array;
    END IF;
    v_walked := omd_lineage._walk_block(
        p_topic.table_code, p_topic.pos_column, p_topic.id_column, v_range,
        ROW(p_block.start_pos, p_block.start_id), v_safe, p_block.upto, v_stop, p_topic.maxstep
    );
    IF v_walked.p_row_count = 0 THEN
        RETURN p_block;
    END IF;
    p_block.is_quiet := FALSE;
    p_block.detail := NULL;
    p_block.end_pos := v_walked.p_end_pos;
    p_block.end_id := v_walked.p_end_id;
    p_block.row_count := v_walked.p_row_count;
    p_block.is_full := v_walked.p_row_count >= p_topic.maxstep;
    p_block.max_id := v_walked.p_max_id;
    p_block.min_ts := nullif(v_walked.p_min_ts, '-infinity');
    -- The last rows that it may take are in it: the look was not before the offset of the source.
    p_block.is_whole := p_block.is_whole
        AND NOT p_block.is_full
        AND NOT v_is_written
        AND NOT (
            v_is_seen AND v_safe < ROW(p_topic.base_pos, p_topic.base_id)::omd_lineage.row_position
        );
    RETURN p_block;
END
$block_of_rows$;

COMMENT ON FUNCTION omd_lineage._block_of_rows IS
'Returns the block p_block of the topic p_topic, which reads a table of this database, with its '
'end. p_seen: the position up to which all its rows were visible when its source was probed, NULL: '
'it was not; p_who: who wrote to it then. With p_is_preview nothing is remembered. Errors: OM206: '
'the table can''t be read by blocks; OM212: it is locked. Locks: the table, ACCESS SHARE.';
GRANT EXECUTE ON FUNCTION omd_lineage._block_of_rows TO omd_runner, omd_admin;
