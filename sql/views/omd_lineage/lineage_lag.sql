-- The ready list for people: what is furthest behind comes first.

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

COMMENT ON VIEW omd_report.lineage_lag IS 'Topics by lag, greatest first, with their blocker.';
COMMENT ON COLUMN omd_report.lineage_lag.topic IS 'The topic.';
COMMENT ON COLUMN omd_report.lineage_lag.lag IS
'How far it is behind its base table; NULL: not begun, or not known.';
COMMENT ON COLUMN omd_report.lineage_lag.blocker IS
'The dependency that holds it; NULL: none does.';
COMMENT ON COLUMN omd_report.lineage_lag.is_ready IS 'It may take a step now.';
COMMENT ON COLUMN omd_report.lineage_lag.reason IS 'Why it may, or why not.';
COMMENT ON COLUMN omd_report.lineage_lag.last_pos IS
'It is complete up to here: pos; NULL: not begun.';
COMMENT ON COLUMN omd_report.lineage_lag.last_id IS
'It is complete up to here: id; NULL: not begun.';
COMMENT ON COLUMN omd_report.lineage_lag.upto IS
'The instant before which it may read; NULL: not known.';
COMMENT ON COLUMN omd_report.lineage_lag.attempts IS 'Attempts at the planned block.';
COMMENT ON COLUMN omd_report.lineage_lag.hostid IS 'The holder; '''': none.';
COMMENT ON COLUMN omd_report.lineage_lag.state IS 'How its last step ended.';
