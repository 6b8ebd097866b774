-- A source of tasks, which dispatch reads again and again.

CREATE OR REPLACE VIEW omd_report.work_tasks_spark AS
SELECT
    t.code,
    t.kind
FROM omd_report.ready_tasks('SPARK') AS t;

COMMENT ON VIEW omd_report.work_tasks_spark IS
'Ready work that a worker process performs and that has no live task: the source of the tasks of '
'the family WORK and the type SPARK.';
COMMENT ON COLUMN omd_report.work_tasks_spark.code IS 'The Module: the criterion CODE of its task.';
COMMENT ON COLUMN omd_report.work_tasks_spark.kind IS 'Its kind: the criterion KIND.';
