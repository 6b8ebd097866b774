-- A source says of its own columns that an instant is whole. Most topics name no others.

CREATE OR REPLACE FUNCTION omd_lineage._reads_wholly(
    p_topic_id integer
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        NOT EXISTS (
            SELECT
            FROM omd_lineage.topic AS t
            INNER JOIN omd_lineage.dependency AS d ON t.topic_id = d.topic_id AND d.ordinal = 1
            INNER JOIN omd_lineage.topic AS s ON d.source_topic_id = s.topic_id
            WHERE
                t.topic_id = p_topic_id
                AND s.processor IS NULL
                AND (
                    coalesce(t.pos_column, s.pos_column, 'pos') <> coalesce(s.pos_column, 'pos')
                    OR coalesce(t.id_column, s.id_column, 'id') <> coalesce(s.id_column, 'id')
                )
        );
END;

COMMENT ON FUNCTION omd_lineage._reads_wholly IS
'Answers whether the topic p_topic_id reads its base table by the columns by which its source is '
'looked at. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._reads_wholly TO omd_reader;
