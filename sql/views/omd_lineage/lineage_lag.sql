-- omd_lineage.ready_list serves the scheduler; this view serves people, and adds the offset.

CREATE OR REPLACE VIEW omd_report.lineage_lag AS
SELECT
    r.topic,
    r.lag,
    r.blocker,
    r.is_ready,
    r.reason,
    o.last_ts AS last_pos,
    (o.last).id AS last_id,
    r.upto,
    r.attempts,
    r.hostid,
    r.state
FROM omd_lineage.ready_list AS r
INNER JOIN omd_lineage.offsets AS o ON r.topic = o.topic
ORDER BY r.lag DESC NULLS FIRST, r.topic ASC;

COMMENT ON VIEW omd_report.lineage_lag IS
'Topics by lag with their blocker; the greatest lag comes first.';
COMMENT ON COLUMN omd_report.lineage_lag.topic IS 'The topic.';
COMMENT ON COLUMN omd_report.lineage_lag.lag IS
'How far the topic is behind its base table; NULL when it has not begun, or when that is not '
'known.';
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
