-- An offset is a position in certain columns of a certain table. A registration may change these
-- for the topic itself, and for topics that read it by its columns; in another table the offset
-- means something else, and nobody but a person knows what.

CREATE OR REPLACE FUNCTION omd_lineage._read_positions(
    p_topic_id integer
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            jsonb_object_agg(b.topic_id, to_jsonb(b) - '{topic_id,source_kind_code}'::text[]),
            '{}'
        )
    FROM omd_lineage.base_table AS b
    INNER JOIN omd_lineage.offsets AS o ON b.topic_id = o.topic_id
    WHERE
        (
            b.topic_id = p_topic_id
            OR b.topic_id IN (
                SELECT d.topic_id FROM omd_lineage.dependency AS d
                WHERE d.source_topic_id = p_topic_id AND d.ordinal = 1
            )
        )
        AND ((o.last).pos > '-infinity' OR o.next IS NOT NULL);
END;

COMMENT ON FUNCTION omd_lineage._read_positions IS
'Returns a JSON object that says for the topic p_topic_id, and for each topic that reads it, by '
'which columns of which table it goes. A topic that has not begun is left out. Locks: none.';
