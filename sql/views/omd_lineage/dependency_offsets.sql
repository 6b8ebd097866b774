-- This view is the one place of the rule how far a dependency has come: as far as the slowest of
-- the topics that make its table, since the rows of that one are still to come, and not beyond a
-- block that is undone. It has two parts, because most dependencies are made by one topic and need
-- no aggregation. Filtered by topic_id, it costs a few index look-ups.

CREATE OR REPLACE VIEW omd_lineage.dependency_offsets AS
SELECT
    d.topic_id,
    d.ordinal,
    least(o.last_ts, o.undone_from) AS pos,
    (o.last).id AS id,
    o.waiting_since AS moved_at
FROM omd_lineage.dependency AS d
LEFT JOIN omd_lineage.offsets AS o ON d.source_topic_id = o.topic_id
WHERE d.is_single
UNION ALL
SELECT
    d.topic_id,
    d.ordinal,
    CASE
        WHEN count(*) = count(o.last_ts) THEN min(least(o.last_ts, o.undone_from))
    END AS pos,
    CASE WHEN count(*) = count(o.last_ts) THEN min((o.last).id) END AS id,
    max(o.waiting_since) AS moved_at
FROM omd_lineage.dependency AS d
INNER JOIN omd_lineage.offsets AS o ON d.source_topic_id = o.topic_id
WHERE NOT d.is_single
GROUP BY d.topic_id, d.ordinal;

COMMENT ON VIEW omd_lineage.dependency_offsets IS
'How far each dependency of each topic has come. See docs/explanation/lineage.md.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.topic_id IS 'The topic that depends.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.ordinal IS
'The place of the dependency in depends_on; 1 is the base table.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.pos IS
'The pos of the offset of the dependency, the least where several topics make its table; NULL when'
' one of them has none, and then the topic waits.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.id IS
'The least id of its offsets, which counts where the position is the id alone; NULL when one has '
'no offset.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.moved_at IS
'When it last moved on; NULL: nothing makes it.';
