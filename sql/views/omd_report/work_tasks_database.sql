-- A source of tasks, which dispatch reads again and again.

CREATE OR REPLACE VIEW omd_report.work_tasks_database AS
SELECT
    t.code,
    t.kind
FROM omd_report.ready_tasks('POSTGRES') AS t;

COMMENT ON VIEW omd_report.work_tasks_database IS
'Ready work that the database performs and that has no live task: the source of the tasks of the '
'family WORK and the type DATABASE.';
COMMENT ON COLUMN omd_report.work_tasks_database.code IS
'The Module: the criterion CODE of its task.';
COMMENT ON COLUMN omd_report.work_tasks_database.kind IS 'Its kind: the criterion KIND.';
