-- Returns every task of the last night of the demo of dispatch, and what became of it. The runs are
-- those that the task has begun, in order, by their status: F S is a run that failed and one that
-- succeeded. Effects are counted where they are: succeeded runs of a load or a topic, rows of a
-- procedure. A task that is DONE with outcome S must have one effect, any other one none.

WITH run AS MATERIALIZED (
    SELECT
        b.execution_context ->> 'task_id' AS task_id,
        b.batch_instance_id AS instance_id,
        b.execution_status_code AS status
    FROM omd_report.batch_execution_log AS b
    UNION ALL
    SELECT
        m.execution_context ->> 'task_id' AS task_id,
        m.module_instance_id,
        m.execution_status_code
    FROM omd_report.module_execution_log AS m
    WHERE m.batch_instance_id = 0
)

SELECT
    t.task_id,
    t.task_type,
    coalesce(t.func_code, t.payload ->> 'carrier') AS what,
    t.execution_time,
    t.attempt,
    t.status,
    t.outcome,
    (
        SELECT string_agg(r.status, ' ' ORDER BY r.instance_id)
        FROM run AS r
        WHERE r.task_id = t.task_id::text
    ) AS runs,
    CASE t.task_type
        WHEN 'REFRESH' THEN (SELECT count(*) FROM night.board AS b WHERE b.task_id = t.task_id)
        WHEN 'SUMMARY' THEN (SELECT count(*) FROM night.summary AS s WHERE s.task_id = t.task_id)
        ELSE (SELECT count(*) FROM run AS r WHERE r.task_id = t.task_id::text AND r.status = 'S')
    END AS effects
FROM omd_dispatch.task_data_night AS t
WHERE t.created_at >= (SELECT n.began_at FROM night.began AS n)
ORDER BY t.task_id;
