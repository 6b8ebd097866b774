-- A gap or an overlap comes from an offset that was moved by hand, or from a rollback of a step
-- that is not the last one. A block that was taken again has a late id and an early place, so
-- blocks are compared by their places. A topic that reads changes or runs passes those that bring
-- nothing for it without a run, so between its blocks there may be any distance.

CREATE OR REPLACE VIEW omd_report.lineage_gaps AS
SELECT
    w.topic,
    w.module_instance_id,
    w.previous_end_pos,
    w.previous_end_id,
    w.start_pos,
    w.start_id,
    CASE
        WHEN (w.start_pos, w.start_id) > (w.previous_end_pos, w.previous_end_id) THEN 'GAP'
        ELSE 'OVERLAP'
    END AS kind
FROM (
    SELECT
        t.topic,
        sc.module_instance_id,
        sc.start_value AS start_pos,
        sc.start_id,
        lag(sc.end_value) OVER windows AS previous_end_pos,
        lag(sc.end_id) OVER windows AS previous_end_id,
        EXISTS (
            SELECT FROM omd_lineage.dependency AS d
            WHERE
                d.topic_id = t.topic_id
                AND d.ordinal = 1
                AND d.source_kind_code IN ('FACTS', 'RUNS')
        ) AS passes
    FROM omd_lineage.topic AS t
    INNER JOIN omd.source_control AS sc ON t.module_id = sc.module_id
    INNER JOIN omd.module_instance AS mi ON sc.module_instance_id = mi.module_instance_id
    WHERE t.processor <> 'RELOAD' AND NOT sc.is_taken_back AND mi.execution_status_code = 'S'
    WINDOW windows AS (
        PARTITION BY t.topic_id ORDER BY sc.start_value, sc.start_id, sc.module_instance_id
    )
) AS w
WHERE
    (w.start_pos, w.start_id) <> (w.previous_end_pos, w.previous_end_id)
    AND (NOT w.passes OR (w.start_pos, w.start_id) < (w.previous_end_pos, w.previous_end_id));

COMMENT ON VIEW omd_report.lineage_gaps IS
'Blocks of topics that do not start where the block before them ended.';
COMMENT ON COLUMN omd_report.lineage_gaps.topic IS 'The topic.';
COMMENT ON COLUMN omd_report.lineage_gaps.module_instance_id IS
'The Module Instance of the step that reads the later block.';
COMMENT ON COLUMN omd_report.lineage_gaps.previous_end_pos IS
'The end of the block before: its pos; NULL when it has none.';
COMMENT ON COLUMN omd_report.lineage_gaps.previous_end_id IS
'The end of the block before: its id; NULL when it has none.';
COMMENT ON COLUMN omd_report.lineage_gaps.start_pos IS
'The start of this block: its pos; NULL when it has none.';
COMMENT ON COLUMN omd_report.lineage_gaps.start_id IS
'The start of this block: its id; NULL when it has none.';
COMMENT ON COLUMN omd_report.lineage_gaps.kind IS
'GAP: the rows in between were never read. OVERLAP: rows were read twice.';
