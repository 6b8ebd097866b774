-- Nothing is awaited most of the time, and then no topic is looked at.

CREATE OR REPLACE VIEW omd_lineage.awaiting_topics AS
SELECT
    t.topic_id,
    min(a.waits_for) AS waits_for
FROM omd.awaited_tables() AS a
INNER JOIN omd_lineage.topic AS t
    ON
        a.module_id IS DISTINCT FROM t.module_id
        AND (
            a.table_code = ANY(t.transforms)
            OR EXISTS (
                SELECT FROM omd_lineage.dependency AS d
                WHERE d.topic_id = t.topic_id AND d.table_code = a.table_code
            )
        )
LEFT JOIN omd.awaited_circles() AS c
    ON a.module_id = c.module_id AND t.module_id = c.reader_id
WHERE t.processor IS NOT NULL AND c.module_id IS NULL
GROUP BY t.topic_id;

COMMENT ON VIEW omd_lineage.awaiting_topics IS
'For rooms: The topics that read a table in which rows are still to come that a recall took back.';
COMMENT ON COLUMN omd_lineage.awaiting_topics.topic_id IS 'The topic.';
COMMENT ON COLUMN omd_lineage.awaiting_topics.waits_for IS 'What is to come.';
