-- omd_lineage.ready_list serves the scheduler; this view serves people, and adds the offset and
-- what is wrong with the sources. A topic has read all that a silent source has given, which says
-- nothing about how far it is behind.

CREATE OR REPLACE VIEW omd_report.lineage_lag AS
WITH
problems AS (
    SELECT
        t.topic,
        bool_or(s.is_silent) AS is_silent,
        string_agg(format('%s: %s', s.source, s.problem), ' ' ORDER BY s.source) AS problem
    FROM omd_report.sources AS s
    CROSS JOIN LATERAL unnest(s.topics) AS t (topic)
    WHERE s.problem IS NOT NULL
    GROUP BY t.topic
),

lags AS (
    SELECT
        r.*,
        p.problem,
        CASE WHEN p.is_silent THEN NULL ELSE r.lag END AS known_lag
    FROM omd_lineage.ready_list AS r
    LEFT JOIN problems AS p ON r.topic = p.topic
)

SELECT
    l.topic,
    l.known_lag AS lag,
    l.blocker,
    l.is_ready,
    l.reason,
    o.last_ts AS last_pos,
    (o.last).id AS last_id,
    l.upto,
    l.attempts,
    l.hostid,
    l.state,
    l.problem
FROM lags AS l
INNER JOIN omd_lineage.offsets AS o ON l.topic = o.topic
ORDER BY l.known_lag DESC NULLS FIRST, l.topic ASC;

COMMENT ON VIEW omd_report.lineage_lag IS
'Topics by lag with their blocker; the greatest lag comes first.';
COMMENT ON COLUMN omd_report.lineage_lag.topic IS 'The topic.';
COMMENT ON COLUMN omd_report.lineage_lag.lag IS
'How far the topic is behind its base table; NULL when it has not begun, or when that is not '
'known, as with a silent source.';
COMMENT ON COLUMN omd_report.lineage_lag.blocker IS
'The dependency that the topic waits for; NULL when there is none.';
COMMENT ON COLUMN omd_report.lineage_lag.is_ready IS 'TRUE when the topic may take a step now.';
COMMENT ON COLUMN omd_report.lineage_lag.reason IS
'Why the topic may take a step, or why it may not.';
COMMENT ON COLUMN omd_report.lineage_lag.last_pos IS
'The topic is complete up to this position: its pos; NULL when the topic has not begun.';
COMMENT ON COLUMN omd_report.lineage_lag.last_id IS
'The topic is complete up to this position: its id; NULL when the topic has not begun.';
COMMENT ON COLUMN omd_report.lineage_lag.upto IS
'The instant before which the topic may read; NULL when that is not known.';
COMMENT ON COLUMN omd_report.lineage_lag.attempts IS
'How many attempts at the planned block were made.';
COMMENT ON COLUMN omd_report.lineage_lag.hostid IS
'The holder of the topic; empty when there is none.';
COMMENT ON COLUMN omd_report.lineage_lag.state IS 'How the last step of the topic ended.';
COMMENT ON COLUMN omd_report.lineage_lag.problem IS
'What is wrong with the sources of the topic, in plain sentences; NULL when nothing is.';
