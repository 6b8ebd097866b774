-- This view is the one place of the rule what a source is. A table that no topic reads by blocks is
-- itself read only where its offset is its newest row: a role that takes steps need not have the
-- right to read the others. A lake table is not in this database, but its commits are; facts and
-- runs say themselves how far they have come.

CREATE OR REPLACE VIEW omd_lineage.source_list AS
SELECT
    t.topic AS source,
    t.topic_id,
    b.table_code,
    b.pos_column,
    b.id_column,
    t.source_offset,
    t.max_age,
    t.inactive_indicator,
    t.source_offset NOT IN ('LAKE', 'FACTS', 'RUNS') AND (
        t.source_offset = 'PROBE' OR EXISTS (
            SELECT FROM omd_lineage.dependency AS d
            WHERE d.source_topic_id = t.topic_id AND d.ordinal = 1
        )
    ) AS is_read
FROM omd_lineage.topic AS t
INNER JOIN omd_lineage.base_table AS b ON t.topic_id = b.topic_id
WHERE t.processor IS NULL
UNION ALL
SELECT
    d.depends_on AS source,
    NULL AS topic_id,
    d.table_code,
    coalesce(min(t.pos_column) FILTER (WHERE d.ordinal = 1), 'pos') AS pos_column,
    coalesce(min(t.id_column) FILTER (WHERE d.ordinal = 1), 'id') AS id_column,
    min(d.source_kind_code) AS source_offset,
    NULL AS max_age,
    'N' AS inactive_indicator,
    bool_or(d.ordinal = 1) AND min(d.source_kind_code) IS NULL AS is_read
FROM omd_lineage.dependency AS d
INNER JOIN omd_lineage.topic AS t ON d.topic_id = t.topic_id
WHERE d.source_topic_id IS NULL
GROUP BY d.depends_on, d.table_code;

COMMENT ON VIEW omd_lineage.source_list IS
'For rooms: '
'Every source: the topics without a processor, and the names in depends_on that are no topics.';
COMMENT ON COLUMN omd_lineage.source_list.source IS
'The name of the topic, or the name in depends_on.';
COMMENT ON COLUMN omd_lineage.source_list.topic_id IS 'The topic; NULL when it is none.';
COMMENT ON COLUMN omd_lineage.source_list.table_code IS 'Its table.';
COMMENT ON COLUMN omd_lineage.source_list.pos_column IS 'The time column.';
COMMENT ON COLUMN omd_lineage.source_list.id_column IS 'The id column.';
COMMENT ON COLUMN omd_lineage.source_list.source_offset IS
'Where its offset comes from, of a name that is no topic FACTS or RUNS; NULL when nobody makes it.';
COMMENT ON COLUMN omd_lineage.source_list.max_age IS
'How old its newest row may be; NULL when nothing is promised.';
COMMENT ON COLUMN omd_lineage.source_list.inactive_indicator IS 'Y: it is not probed.';
COMMENT ON COLUMN omd_lineage.source_list.is_read IS
'TRUE when a probe reads the table; else it only looks whether the table is still there.';
