-- What is registered and how it stands are two tables; whoever acts wants both.

CREATE OR REPLACE VIEW omd_web.topic AS
SELECT
    t.topic,
    m.module_code,
    t.processor,
    t.engine,
    t.inactive_indicator,
    omd_lineage._shown_state(o.attempts, o.state) AS state,
    nullif(o.hostid, '') AS hostid,
    o.attempts,
    (o.last).pos AS last_pos,
    (
        SELECT count(*)
        FROM omd_lineage.restatement AS r
        WHERE r.topic_id = t.topic_id
    ) AS restatements
FROM omd_lineage.topic AS t
LEFT JOIN omd_lineage.offsets AS o ON t.topic_id = o.topic_id
LEFT JOIN omd.module AS m ON t.module_id = m.module_id;

COMMENT ON VIEW omd_web.topic IS 'For rooms: Each topic, and how it stands.';
COMMENT ON COLUMN omd_web.topic.topic IS 'The topic.';
COMMENT ON COLUMN omd_web.topic.module_code IS 'Its Module; NULL: it is a source.';
COMMENT ON COLUMN omd_web.topic.processor IS
'How it is made: STEP, RELOAD or a procedure; NULL: it is a source.';
COMMENT ON COLUMN omd_web.topic.engine IS 'POSTGRES or SPARK.';
COMMENT ON COLUMN omd_web.topic.inactive_indicator IS 'Y when each step is skipped, else N.';
COMMENT ON COLUMN omd_web.topic.state IS
'What its last step came to, without a value of a row.';
COMMENT ON COLUMN omd_web.topic.hostid IS 'Who holds it; NULL: nobody does.';
COMMENT ON COLUMN omd_web.topic.attempts IS 'How often the step has been tried in vain.';
COMMENT ON COLUMN omd_web.topic.last_pos IS 'Up to where it has read; NULL: it has read nothing.';
COMMENT ON COLUMN omd_web.topic.restatements IS
'How many ranges are to be taken again and are not done yet.';
