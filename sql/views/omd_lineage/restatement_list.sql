-- The rule which range may be taken now stands here: within one call of restate a topic waits for
-- those that it depends on. The table is small, since a row goes when its range is done.

CREATE OR REPLACE VIEW omd_lineage.restatement_list AS
WITH unfinished AS (
    SELECT
        r.restatement_id,
        r.call_id,
        r.topic_id,
        t.topic,
        t.engine,
        (r.start_position).pos AS from_pos,
        (r.end_position).pos AS to_pos,
        (r.block_start).pos AS block_start_pos,
        r.requested_by,
        r.requested_at
    FROM omd_lineage.restatement AS r
    INNER JOIN omd_lineage.topic AS t ON r.topic_id = t.topic_id
    INNER JOIN omd_lineage.offsets AS o ON r.topic_id = o.topic_id
    WHERE r.resume_position IS NULL OR o.last < r.resume_position
)

SELECT
    u.restatement_id,
    u.call_id,
    u.topic_id,
    u.topic,
    u.engine,
    b.blocker IS NULL AS is_ready,
    b.blocker,
    u.from_pos,
    u.to_pos,
    u.block_start_pos,
    u.requested_by,
    u.requested_at
FROM unfinished AS u
CROSS JOIN LATERAL (
    SELECT min(other.topic) AS blocker
    FROM omd_lineage.dependency AS d
    INNER JOIN unfinished AS other ON d.source_topic_id = other.topic_id
    WHERE d.topic_id = u.topic_id AND other.call_id = u.call_id
) AS b;

COMMENT ON VIEW omd_lineage.restatement_list IS
'For rooms: The ranges that omd_lineage.restate has asked for and that are not done yet. See '
'docs/explanation/lineage.md.';
COMMENT ON COLUMN omd_lineage.restatement_list.restatement_id IS
'The ranges of a topic are taken in this order.';
COMMENT ON COLUMN omd_lineage.restatement_list.call_id IS
'The same for all ranges that one call has asked for.';
COMMENT ON COLUMN omd_lineage.restatement_list.topic_id IS 'Surrogate key of the topic.';
COMMENT ON COLUMN omd_lineage.restatement_list.topic IS 'The topic.';
COMMENT ON COLUMN omd_lineage.restatement_list.engine IS 'POSTGRES or SPARK.';
COMMENT ON COLUMN omd_lineage.restatement_list.is_ready IS
'TRUE when the next step of the topic takes a block of it.';
COMMENT ON COLUMN omd_lineage.restatement_list.blocker IS
'The topic upstream that comes first; NULL when there is none.';
COMMENT ON COLUMN omd_lineage.restatement_list.from_pos IS 'Start of the range.';
COMMENT ON COLUMN omd_lineage.restatement_list.to_pos IS 'End of the range.';
COMMENT ON COLUMN omd_lineage.restatement_list.block_start_pos IS
'Start of the block that is taken now, or that waits for its retry; NULL when there is none.';
COMMENT ON COLUMN omd_lineage.restatement_list.requested_by IS 'Who asked for it.';
COMMENT ON COLUMN omd_lineage.restatement_list.requested_at IS 'When.';
