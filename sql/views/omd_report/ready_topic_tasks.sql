-- A source of tasks for dispatch, which reads each column as the criterion of that name. A topic
-- whose task is live stays in it, and is skipped by its key.

CREATE OR REPLACE VIEW omd_report.ready_topic_tasks AS
SELECT t.topic AS code
FROM omd_report.ready_work AS r
INNER JOIN omd_report.lineage_topics AS t ON r.code = t.module_code
WHERE r.module_kind_code = 'TOPIC';

COMMENT ON VIEW omd_report.ready_topic_tasks IS
'The topics of omd_report.ready_work: a source for tasks of the family RUN and the type TOPIC.';
COMMENT ON COLUMN omd_report.ready_topic_tasks.code IS 'The topic: the criterion CODE of its task.';
