-- Nothing is awaited most of the time, and then no document is opened: OFFSET 0 keeps the order,
-- whatever the statistics say.

CREATE OR REPLACE VIEW omd_decision.awaiting_stages AS
SELECT
    s.stage_id,
    min(a.waits_for) AS waits_for
FROM omd.awaited_tables() AS a
CROSS JOIN
    LATERAL (
        SELECT
            g.stage_id,
            g.module_id
        FROM omd_decision.stage AS g
        INNER JOIN omd_decision.stage_version AS v
            ON g.stage_id = v.stage_id AND g.version = v.version
        CROSS JOIN LATERAL omd.json_items(v.definition -> 'links') AS l
        WHERE g.module_id <> a.module_id AND l.item ->> 'source' = a.table_code
        ORDER BY g.stage_id
        OFFSET 0
    ) AS s
LEFT JOIN omd.awaited_circles() AS c
    ON a.module_id = c.module_id AND s.module_id = c.reader_id
WHERE c.module_id IS NULL
GROUP BY s.stage_id;

COMMENT ON VIEW omd_decision.awaiting_stages IS
'For rooms: The stages that read a table in which rows are still to come that a recall took back.';
COMMENT ON COLUMN omd_decision.awaiting_stages.stage_id IS 'The stage.';
COMMENT ON COLUMN omd_decision.awaiting_stages.waits_for IS 'What is to come.';
