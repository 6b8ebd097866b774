-- omd_lineage.ready_list looks at the dependencies of all topics at once, which is cheapest for all
-- of them. This view asks it for each topic on its own, so a query of a few topics costs a few
-- index look-ups, however many others there are, by a plan that the session keeps.

CREATE OR REPLACE VIEW omd_lineage.ready_list_by_topic AS
SELECT
    t.topic,
    r.is_ready,
    r.reason,
    r.upto,
    r.blocker,
    r.lag,
    r.processor,
    r.engine,
    r.state,
    r.hostid,
    r.attempts,
    r.topic_id,
    r.module_id,
    r.since,
    r.not_before,
    r.has_work,
    r.is_held
FROM omd_lineage.topic AS t
CROSS JOIN LATERAL omd_lineage._ready_of(ARRAY[t.topic_id]) AS r
ORDER BY r.lag DESC NULLS FIRST, r.topic_id ASC;

COMMENT ON VIEW omd_lineage.ready_list_by_topic IS
'For the driver: '
'The ready list, for queries of a few topics: WHERE topic = …. Its rows and columns are those of '
'omd_lineage.ready_list.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.topic IS 'The topic.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.is_ready IS
'TRUE when the topic may take a step now.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.reason IS
'Why it is ready or not, as omd_lineage.ready_list says.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.upto IS
'The instant before which the topic may read; NULL when that is not known.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.blocker IS
'The dependency that limits upto; "no offset: …" names one that has no offset; NULL when the topic'
' has no dependency.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.lag IS
'How far the offset is behind the base table, in the time of the rows; NULL when the topic has not'
' begun, or when that is not known.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.processor IS
'How the topic is made: STEP, RELOAD or a procedure.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.engine IS 'POSTGRES or SPARK.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.state IS 'How the last step of the topic ended.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.hostid IS
'The holder of the topic; empty when there is none.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.attempts IS
'How many attempts at the planned block were made.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.topic_id IS 'The number of the topic.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.module_id IS 'Its Module.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.since IS
'Since when this holds; NULL when that is not known.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.not_before IS
'When its pause ends; NULL: it does not pause.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.has_work IS 'There is something to do.';
COMMENT ON COLUMN omd_lineage.ready_list_by_topic.is_held IS 'A step holds it, and lives.';
