-- Nobody but our Modules writes the base table, and upto lies before each of their runs at work. So
-- no row can come before upto any more, and the block ends there and not at its last row.

CREATE OR REPLACE FUNCTION omd_lineage._block_of_runs(
    p_topic omd_lineage.block_limits,
    p_block omd_lineage.block,
    p_who text
)
RETURNS omd_lineage.block
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $block_of_runs$
DECLARE
    v_walked record;
BEGIN
    IF p_who IS NOT NULL THEN
        p_block.detail := format('%s writes to %s', p_who, p_topic.base);
    END IF;
    IF p_topic.processor = 'RELOAD' THEN
        RETURN omd_lineage._block_of_all_rows(p_topic, p_block, p_who IS NOT NULL);
    END IF;
    v_walked := omd_lineage._walk_block(
        p_topic.table_code, p_topic.pos_column, p_topic.id_column,
        omd_lineage._block_range(p_topic.pos_column, p_topic.id_column, p_block.is_whole),
        ROW(p_block.start_pos, p_block.start_id), ROW(p_block.upto, 9223372036854775807),
        p_block.upto, NULL, p_topic.maxstep
    );
    p_block.row_count := v_walked.p_row_count;
    p_block.max_id := v_walked.p_max_id;
    p_block.min_ts := nullif(v_walked.p_min_ts, '-infinity');
    p_block.is_whole := FALSE;
    IF p_block.row_count >= p_topic.maxstep THEN
        p_block.end_pos := v_walked.p_end_pos;
        p_block.end_id := v_walked.p_end_id;
        p_block.is_full := TRUE;
        p_block.detail := NULL;
        RETURN p_block;
    END IF;
    p_block.end_pos := p_block.upto - interval '1 microsecond';
    p_block.end_id := 9223372036854775807;
    p_block.is_quiet := p_block.row_count = 0;
    IF (p_block.end_pos, p_block.end_id) <= (p_block.start_pos, p_block.start_id) THEN
        p_block.end_pos := NULL;
        p_block.is_quiet := FALSE;
    ELSIF NOT p_block.is_quiet THEN
        p_block.detail := NULL;
    END IF;
    RETURN p_block;
END
$block_of_runs$;

COMMENT ON FUNCTION omd_lineage._block_of_runs IS
'Returns the block p_block of the topic p_topic, which reads what Modules write, with its end. '
'p_who is at work there; NULL: nobody. Locks: the table, ACCESS SHARE.';
GRANT EXECUTE ON FUNCTION omd_lineage._block_of_runs TO omd_runner, omd_admin;
