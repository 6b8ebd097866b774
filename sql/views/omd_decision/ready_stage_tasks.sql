-- A source of tasks for dispatch, which reads each column as the criterion of that name. A stage
-- whose task is live stays in it, and is skipped by its key.

CREATE OR REPLACE VIEW omd_report.ready_stage_tasks AS
SELECT r.module_code AS code
FROM omd_report.stage_readiness AS r
WHERE r.reason = 'DUE';

COMMENT ON VIEW omd_report.ready_stage_tasks IS
'For rooms: '
'A row for each stage that does not pause after a failure: a source for a schedule of tasks of the '
'family RUN and the type MODULE.';
COMMENT ON COLUMN omd_report.ready_stage_tasks.code IS
'The Module of the stage: the criterion CODE of its task.';
