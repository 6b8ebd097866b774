-- This view is the one place of the rule which table a topic reads by blocks, and by which columns;
-- a source reads itself. The position of a lake table is that of its commits, and that of a view of
-- facts that of the changes of its interface. Filtered by topic_id,
-- it costs a few index look-ups.

CREATE OR REPLACE VIEW omd_lineage.base_table AS
SELECT
    t.topic_id,
    coalesce(b.table_code, t.table_code) AS table_code,
    CASE
        WHEN coalesce(b.is_lake, t.processor IS NULL AND t.source_offset = 'LAKE')
            THEN 'commit_datetime'
        WHEN
            coalesce(b.source_kind_code, CASE WHEN t.processor IS NULL THEN t.source_offset END)
            = 'FACTS'
            THEN 'change_datetime'
        ELSE coalesce(t.pos_column, b.pos_column, 'pos')
    END AS pos_column,
    CASE
        WHEN coalesce(b.is_lake, t.processor IS NULL AND t.source_offset = 'LAKE')
            THEN 'sequence_number'
        WHEN
            coalesce(b.source_kind_code, CASE WHEN t.processor IS NULL THEN t.source_offset END)
            = 'FACTS'
            THEN 'change_id'
        ELSE coalesce(t.id_column, b.id_column, 'id')
    END AS id_column,
    coalesce(b.is_lake, t.processor IS NULL AND t.source_offset = 'LAKE') AS is_lake,
    CASE
        WHEN b.table_code IS NOT NULL THEN b.source_kind_code
        WHEN t.source_offset IN ('FACTS', 'LAKE', 'RUNS') THEN t.source_offset
    END AS source_kind_code
FROM omd_lineage.topic AS t
LEFT JOIN
    LATERAL (
        SELECT
            d.table_code,
            s.pos_column,
            s.id_column,
            d.source_kind_code,
            coalesce(s.source_offset = 'LAKE', FALSE) AS is_lake
        FROM omd_lineage.dependency AS d
        LEFT JOIN omd_lineage.topic AS s ON d.source_topic_id = s.topic_id AND s.processor IS NULL
        WHERE d.topic_id = t.topic_id AND d.ordinal = 1
        ORDER BY s.topic_id
        LIMIT 1
    ) AS b
    ON TRUE;

COMMENT ON VIEW omd_lineage.base_table IS
'For rooms: The table that each topic reads by blocks, and the columns of the position in it.';
COMMENT ON COLUMN omd_lineage.base_table.topic_id IS 'The topic.';
COMMENT ON COLUMN omd_lineage.base_table.table_code IS
'Its base table. The base table of a source is the source itself.';
COMMENT ON COLUMN omd_lineage.base_table.pos_column IS
'The time column; empty: there is none, and the position is the id alone.';
COMMENT ON COLUMN omd_lineage.base_table.id_column IS 'The id column.';
COMMENT ON COLUMN omd_lineage.base_table.is_lake IS
'TRUE: it is a lake table, and its positions are those of its commits.';
COMMENT ON COLUMN omd_lineage.base_table.source_kind_code IS
'FACTS, LAKE or RUNS: it is read by the positions that omd.source has of it; NULL: it is not.';
