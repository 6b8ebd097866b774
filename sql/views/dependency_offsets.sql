-- How far each dependency of each topic has come: the newest of the topics that make the table. The
-- one place of that rule; filtered by topic_id it costs a few index look-ups.

CREATE OR REPLACE VIEW omd_lineage.dependency_offsets AS
SELECT
    d.topic_id,
    d.ordinal,
    d.depends_on,
    d.table_code,
    max((o.last).ts) AS ts
FROM omd_lineage.dependency AS d
LEFT JOIN omd_lineage.offsets AS o ON d.source_topic_id = o.topic_id
GROUP BY d.topic_id, d.ordinal, d.depends_on, d.table_code;

COMMENT ON VIEW omd_lineage.dependency_offsets IS
'How far each dependency of each topic has come. SQL ETL scheduler, "Lineage and Topics".';
COMMENT ON COLUMN omd_lineage.dependency_offsets.topic_id IS 'Who depends.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.ordinal IS 'Place in depends_on; 1: base table.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.depends_on IS 'The name, as registered.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.table_code IS 'The table.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.ts IS
'The time of its offset; NULL: it has none, and blocks.';
