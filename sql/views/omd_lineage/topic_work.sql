-- It says in the words of ready work what the ready list says, which holds the rules.

CREATE OR REPLACE VIEW omd_lineage.topic_work AS
SELECT
    r.module_id,
    CASE
        WHEN r.is_held THEN 'RUNNING'
        WHEN r.is_ready THEN 'READY'
        WHEN r.reason = 'INACTIVE' THEN 'PAUSED'
        WHEN r.reason IN ('FAILED', 'BACK_OFF') THEN r.reason
        WHEN r.has_work OR r.reason IN ('NO_OFFSET', 'REPEAT', 'AWAITED') THEN 'WAITING'
        ELSE 'IDLE'
    END AS state,
    CASE WHEN r.is_held THEN 'HELD' ELSE r.reason END AS reason,
    CASE WHEN r.reason IN ('DEPENDENCY', 'NO_OFFSET', 'AWAITED') THEN r.blocker END AS waits_for,
    r.since,
    r.not_before,
    CASE WHEN r.is_ready AND r.upto IS NOT NULL THEN 'up to ' || r.upto END AS detail,
    r.topic_id
FROM omd_lineage.ready_list AS r;

COMMENT ON VIEW omd_lineage.topic_work IS
'For rooms: the topics with steps, and what there is to do for each.';
COMMENT ON COLUMN omd_lineage.topic_work.module_id IS 'The Module.';
COMMENT ON COLUMN omd_lineage.topic_work.state IS
'RUNNING, FAILED, BACK_OFF, PAUSED, READY, WAITING or IDLE.';
COMMENT ON COLUMN omd_lineage.topic_work.reason IS 'Why, as omd_lineage.ready_list says.';
COMMENT ON COLUMN omd_lineage.topic_work.waits_for IS
'What it waits for; NULL: nothing that has a name.';
COMMENT ON COLUMN omd_lineage.topic_work.since IS 'Since when; NULL when that is not known.';
COMMENT ON COLUMN omd_lineage.topic_work.not_before IS 'When its pause ends; NULL: it has none.';
COMMENT ON COLUMN omd_lineage.topic_work.detail IS
'How far a step may read; NULL: it is not ready.';
COMMENT ON COLUMN omd_lineage.topic_work.topic_id IS 'The number of the topic.';
