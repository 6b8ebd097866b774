-- A reload reads all rows at once, so it waits for every writer.

CREATE OR REPLACE FUNCTION omd_lineage._block_of_all_rows(
    p_topic omd_lineage.block_limits,
    p_block omd_lineage.block,
    p_is_written boolean
)
RETURNS omd_lineage.block
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $block_of_all_rows$
BEGIN
    IF NOT p_is_written
        AND (
            omd_lineage._is_ahead(
                p_block.upto, p_block.is_whole, p_topic.base_pos, p_topic.base_id,
                (p_topic.last).pos, (p_topic.last).id, p_topic.is_whole
            )
            OR EXISTS (
                SELECT FROM omd_lineage.restatement_list AS l
                WHERE l.topic_id = p_topic.topic_id AND l.is_ready
            )
            OR omd_lineage._is_recalled(p_topic.topic_id)
            OR (p_topic.pos_column = '' AND p_topic.base_id > (p_topic.last).id)
        )
    THEN
        p_block.end_pos := greatest(p_block.upto, (p_topic.last).pos);
        p_block.end_id := CASE
            WHEN p_topic.pos_column = ''
                OR (p_block.is_whole AND p_topic.base_pos = p_block.end_pos)
                THEN greatest(p_topic.base_id, (p_topic.last).id)
            ELSE 0::bigint
        END;
        p_block.is_whole := p_block.is_whole AND p_block.end_pos = p_block.upto;
        p_block.detail := NULL;
    END IF;
    RETURN p_block;
END
$block_of_all_rows$;

COMMENT ON FUNCTION omd_lineage._block_of_all_rows IS
'Returns the block p_block of the topic p_topic, which reads its base table as a whole, with its '
'end. p_is_written: somebody is at work there. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._block_of_all_rows TO omd_runner, omd_admin;
