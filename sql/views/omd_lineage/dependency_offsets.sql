-- How far each dependency of each topic has come: the newest of the topics that make the table. The
-- one place of that rule. In two parts, because most dependencies are made by one topic and need no
-- aggregation; filtered by topic_id it costs a few index look-ups.

CREATE OR REPLACE VIEW omd_lineage.dependency_offsets AS
SELECT
    d.topic_id,
    d.ordinal,
    o.last_ts AS pos
FROM omd_lineage.dependency AS d
LEFT JOIN omd_lineage.offsets AS o ON d.source_topic_id = o.topic_id
WHERE d.is_single
UNION ALL
SELECT
    d.topic_id,
    d.ordinal,
    max(o.last_ts) AS pos
FROM omd_lineage.dependency AS d
INNER JOIN omd_lineage.offsets AS o ON d.source_topic_id = o.topic_id
WHERE NOT d.is_single
GROUP BY d.topic_id, d.ordinal;

COMMENT ON VIEW omd_lineage.dependency_offsets IS
'How far each dependency of each topic has come. See docs/explanation/lineage.md.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.topic_id IS 'The topic that depends.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.ordinal IS 'Place in depends_on; 1: base table.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.pos IS
'The pos of its offset; NULL: it has none, and blocks.';
