-- The caller holds the offset. A block of a topic that inserts is taken alone. A topic that
-- replaces rows by key goes back to the start of the range: what a later block has replaced is not
-- there any more, so all blocks from there on are undone and taken again, in order. So does one
-- whose block ends between a change of facts and its undo, since the next block has read both.

CREATE OR REPLACE FUNCTION omd_lineage._claim_restatement(
    p_topic_id integer,
    OUT p_restatement_id bigint,
    OUT p_start_pos timestamptz,
    OUT p_start_id bigint,
    OUT p_end_pos timestamptz,
    OUT p_end_id bigint,
    OUT p_former_array bigint[],
    OUT p_goes_back boolean
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $claim_restatement$
DECLARE
    v_topic omd_lineage.topic;
    v_block record;
    v_start omd_lineage.row_position;
    v_end omd_lineage.row_position;
BEGIN
    p_goes_back := FALSE;
    PERFORM omd_lineage._end_restatement(p_topic_id);
    SELECT l.restatement_id INTO p_restatement_id
    FROM omd_lineage.restatement_list AS l
    INNER JOIN omd_lineage.restatement AS r USING (restatement_id)
    WHERE l.topic_id = p_topic_id AND l.is_ready AND r.resume_position IS NULL
    ORDER BY r.block_end IS NULL, l.restatement_id
    LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT t.* INTO v_topic FROM omd_lineage.topic AS t WHERE t.topic_id = p_topic_id;
    IF v_topic.processor = 'RELOAD' THEN
        RETURN;
    END IF;

    v_block := omd_lineage._next_restated_block(p_restatement_id);
    -- The range has become ready after the look above, and has no block. The next claim ends it.
    IF v_block.p_former_array IS NULL THEN
        p_restatement_id := NULL;
        RETURN;
    END IF;
    p_start_pos := v_block.p_start_pos;
    p_start_id := v_block.p_start_id;
    p_end_pos := v_block.p_end_pos;
    p_end_id := v_block.p_end_id;
    p_former_array := v_block.p_former_array;
    v_start := ROW(p_start_pos, p_start_id);
    p_goes_back := num_nonnulls(v_topic.merge_key, v_topic.recompute_key) > 0
        OR NOT omd_lineage._block_stands(p_topic_id, p_end_id);
    IF p_goes_back THEN
        v_end := (SELECT o.last FROM omd_lineage.offsets AS o WHERE o.topic_id = p_topic_id);
        UPDATE omd_lineage.restatement AS r SET resume_position = v_end
        WHERE r.restatement_id = p_restatement_id;
        p_restatement_id := NULL;
    ELSE
        v_end := ROW(p_end_pos, p_end_id);
        UPDATE omd_lineage.restatement AS r SET
            block_start = v_start,
            block_end = v_end,
            former_array = p_former_array
        WHERE r.restatement_id = p_restatement_id;
    END IF;
    -- A block may be larger than the range, and what is made of its rows follows as a whole. Topics
    -- downstream have not begun.
    UPDATE omd_lineage.restatement AS other SET
        start_position = least(other.start_position, v_start),
        end_position = greatest(other.end_position, v_end)
    FROM omd_lineage.restatement AS r
    WHERE r.call_id = other.call_id
        AND r.topic_id = p_topic_id
        AND other.topic_id IN (
            SELECT d.topic_id FROM omd_lineage._downstream(p_topic_id) AS d
        )
        AND (other.start_position > v_start OR other.end_position < v_end);
END
$claim_restatement$;

COMMENT ON FUNCTION omd_lineage._claim_restatement IS
'Returns what the next step of the topic p_topic_id takes again: p_restatement_id, the range that '
'it serves, with the block (p_start_pos and p_start_id, p_end_pos and p_end_id] and '
'p_former_array, the Module Instances to be undone; no block for a RELOAD. p_goes_back: the offset'
' goes back to the start of the block instead. NULLs when nothing is to be taken again now. Locks:'
' the ranges of the call.';
