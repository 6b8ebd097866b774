-- A source of tasks for dispatch, which reads each column as the criterion of that name. A topic
-- whose task is live stays in it, and is skipped by its key.

CREATE OR REPLACE VIEW omd_report.ready_topic_tasks AS
SELECT r.topic AS code
FROM omd_lineage.ready_list AS r
WHERE r.is_ready;

COMMENT ON VIEW omd_report.ready_topic_tasks IS
'A row for each topic that may take a step now, the greatest lag first: a source for a schedule of'
' tasks of the family RUN and the type TOPIC.';
COMMENT ON COLUMN omd_report.ready_topic_tasks.code IS 'The topic: the criterion CODE of its task.';
