-- Changes have a clock of their own, which never goes back: when that of the server was set back,
-- the newest ones lie ahead of it.

CREATE OR REPLACE FUNCTION omd_lineage._block_of_changes(
    p_topic omd_lineage.block_limits,
    p_block omd_lineage.block
)
RETURNS omd_lineage.block
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $block_of_changes$
DECLARE
    v_next record;
BEGIN
    IF p_topic.is_undelayed AND p_block.upto = now() THEN
        p_block.upto := 'infinity';
    END IF;
    v_next := omd_lineage._next_changes(
        p_topic.topic_id, p_block.start_pos, p_block.start_id, p_block.upto
    );
    p_block.end_pos := v_next.p_end_pos;
    p_block.end_id := v_next.p_end_id;
    p_block.row_count := v_next.p_key_count;
    p_block.is_full := v_next.p_is_full;
    p_block.min_ts := v_next.p_min_pos;
    p_block.max_id := v_next.p_end_id;
    p_block.detail := v_next.p_detail;
    -- What a recall took back is made again, whatever is new.
    IF p_topic.processor = 'RELOAD'
        AND omd_lineage._is_recalled(p_topic.topic_id)
        AND NOT omd_lineage._is_closed(p_topic.topic_id)
    THEN
        p_block.end_pos := coalesce(p_block.end_pos, p_block.start_pos);
        p_block.end_id := coalesce(p_block.end_id, p_block.start_id);
        p_block.detail := NULL;
    ELSE
        p_block.is_quiet := p_block.end_pos IS NOT NULL AND p_block.row_count = 0;
    END IF;
    RETURN p_block;
END
$block_of_changes$;

COMMENT ON FUNCTION omd_lineage._block_of_changes IS
'Returns the block p_block of the topic p_topic, which reads a view of facts, with its end. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_lineage._block_of_changes TO omd_runner, omd_admin;
