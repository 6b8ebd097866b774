-- The lake knows which commits of its table have rows of runs that have succeeded.

CREATE OR REPLACE FUNCTION omd_lineage._block_of_commits(
    p_topic omd_lineage.block_limits,
    p_block omd_lineage.block
)
RETURNS omd_lineage.block
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $block_of_commits$
DECLARE
    v_next record;
BEGIN
    IF p_topic.processor = 'RELOAD' THEN
        IF p_block.upto > (p_topic.last).pos OR omd_lineage._is_recalled(p_topic.topic_id) THEN
            p_block.end_pos := greatest(p_block.upto, (p_topic.last).pos);
            p_block.end_id := 0;
        END IF;
    ELSE
        v_next := omd_lake.next_block(
            p_topic.table_code, p_block.start_pos, p_block.start_id, p_block.upto, p_topic.maxstep
        );
        p_block.end_pos := v_next.p_end_pos;
        p_block.end_id := v_next.p_end_id;
        p_block.row_count := v_next.p_row_count;
        p_block.is_full := v_next.p_is_full;
        p_block.min_ts := v_next.p_min_ts;
        p_block.max_id := v_next.p_end_id;
        p_block.is_quiet := p_block.end_pos IS NULL AND v_next.p_who IS NULL
            AND p_block.upto > (p_topic.last).pos;
        IF v_next.p_who IS NOT NULL THEN
            p_block.detail := format('%s has not succeeded in %s', v_next.p_who, p_topic.base);
        END IF;
    END IF;
    IF p_block.end_pos IS NOT NULL THEN
        p_block.detail := NULL;
    END IF;
    RETURN p_block;
END
$block_of_commits$;

COMMENT ON FUNCTION omd_lineage._block_of_commits IS
'Returns the block p_block of the topic p_topic, which reads a table of the lake, with its end. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._block_of_commits TO omd_runner, omd_admin;
