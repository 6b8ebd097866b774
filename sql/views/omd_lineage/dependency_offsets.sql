-- This view is the one place of the rule how far a dependency has come: as far as the slowest of
-- the topics that make its table, since the rows of that one are still to come, and not beyond a
-- block that is undone; or, where its rows are read by the positions of a source, as far as the
-- newest of these, which nobody probes. Changes of facts and runs have a clock of their own, so
-- such a dependency counts as a base table only, and holds nobody back else. It has four parts,
-- because most dependencies are made by one topic and need no aggregation. Filtered by topic_id, it
-- costs a few index look-ups.

CREATE OR REPLACE VIEW omd_lineage.dependency_offsets AS
SELECT
    d.topic_id,
    d.ordinal,
    least(o.last_ts, o.undone_from) AS pos,
    (o.last).id AS id,
    o.waiting_since AS moved_at,
    d.source_kind_code,
    NULL::timestamptz AS former_pos,
    NULL::bigint AS former_id,
    FALSE AS is_closed,
    NULL::text AS source_table_code,
    o.is_whole AND o.undone_from IS NULL AS is_whole
FROM omd_lineage.dependency AS d
LEFT JOIN omd_lineage.offsets AS o ON d.source_topic_id = o.topic_id
WHERE d.is_single AND d.source_kind_code IS NULL
UNION ALL
SELECT
    d.topic_id,
    d.ordinal,
    CASE
        WHEN count(*) = count(o.last_ts) THEN min(least(o.last_ts, o.undone_from))
    END AS pos,
    CASE WHEN count(*) = count(o.last_ts) THEN min((o.last).id) END AS id,
    max(o.waiting_since) AS moved_at,
    NULL AS source_kind_code,
    NULL AS former_pos,
    NULL AS former_id,
    FALSE AS is_closed,
    NULL AS source_table_code,
    bool_and(o.is_whole AND o.undone_from IS NULL) AS is_whole
FROM omd_lineage.dependency AS d
INNER JOIN omd_lineage.offsets AS o ON d.source_topic_id = o.topic_id
WHERE NOT d.is_single AND d.source_kind_code IS NULL
GROUP BY d.topic_id, d.ordinal
UNION ALL
SELECT
    d.topic_id,
    d.ordinal,
    greatest(least(o.last_ts, o.undone_from), s.pos) AS pos,
    CASE WHEN s.pos > coalesce(o.last_ts, '-infinity') THEN s.id ELSE (o.last).id END AS id,
    greatest(o.waiting_since, nullif(s.pos, '-infinity')) AS moved_at,
    d.source_kind_code,
    NULL AS former_pos,
    NULL AS former_id,
    FALSE AS is_closed,
    NULL AS source_table_code,
    FALSE AS is_whole
FROM omd_lineage.dependency AS d
LEFT JOIN omd_lineage.offsets AS o ON d.source_topic_id = o.topic_id
LEFT JOIN omd.source_position AS s
    ON d.table_code = s.table_code AND s.source_kind_code = 'LAKE' AND s.pos > '-infinity'
WHERE d.source_kind_code = 'LAKE'
UNION ALL
SELECT
    d.topic_id,
    d.ordinal,
    max(s.pos) AS pos,
    max(s.id) AS id,
    nullif(max(s.pos), '-infinity') AS moved_at,
    d.source_kind_code,
    -- Of several sources nobody knows here which one moved last.
    CASE WHEN count(DISTINCT s.source_code) = 1 THEN max(s.former_pos) END AS former_pos,
    max(s.former_id) AS former_id,
    coalesce(bool_or(s.is_closed), FALSE) AS is_closed,
    d.table_code AS source_table_code,
    FALSE AS is_whole
FROM omd_lineage.dependency AS d
LEFT JOIN omd.source_position AS s
    ON d.table_code = s.table_code AND d.source_kind_code = s.source_kind_code
WHERE d.source_kind_code IN ('FACTS', 'RUNS') AND d.ordinal = 1
GROUP BY d.topic_id, d.ordinal, d.source_kind_code, d.table_code;

COMMENT ON VIEW omd_lineage.dependency_offsets IS
'For rooms: How far each dependency of each topic has come. See docs/explanation/lineage.md.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.topic_id IS 'The topic that depends.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.ordinal IS
'The place of the dependency in depends_on; 1 is the base table.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.pos IS
'The pos of the offset of the dependency, the least where several topics make its table; NULL when'
' one of them has none, and then the topic waits. Of a source of the kind FACTS or RUNS its newest '
'position.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.id IS
'The least id of its offsets, which counts where the position is the id alone; NULL when one has '
'no offset. Of a source of the kind FACTS the id of its newest change.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.moved_at IS
'When it last moved on; NULL: nothing makes it.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.source_kind_code IS
'FACTS, LAKE or RUNS: it is read by the positions of a source; NULL: by the offsets of topics.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.former_pos IS
'The position of the source before the newest one; NULL where that is not known.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.former_id IS 'The number of that one.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.is_closed IS
'TRUE: rows of the source are being taken back, and no step begins to read it.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.source_table_code IS
'The table or view by whose positions it is read; NULL: it is not.';
COMMENT ON COLUMN omd_lineage.dependency_offsets.is_whole IS
'TRUE: all rows of the instant pos are there, so they may be read.';
