-- Returns every task of the last night of the demo of dispatch, and what became of it. The runs are
-- those that the task has begun, in order, by their status: F S is a run that failed and one that
-- succeeded. Effects are counted where they are: succeeded runs of a load or a topic, rows of a
-- procedure. A task that is DONE with outcome S must have one effect, any other one none.

SELECT
    t.task_id,
    t.task_type,
    coalesce(t.func_code, t.payload ->> 'carrier') AS what,
    t.execution_time,
    t.attempt,
    t.status,
    t.outcome,
    r.runs,
    CASE t.task_type
        WHEN 'REFRESH' THEN (SELECT count(*) FROM night.board AS b WHERE b.task_id = t.task_id)
        WHEN 'SUMMARY' THEN (SELECT count(*) FROM night.summary AS s WHERE s.task_id = t.task_id)
        ELSE r.succeeded
    END AS effects
FROM omd_dispatch.task_data_night AS t
CROSS JOIN LATERAL (
    SELECT
        string_agg(i.execution_status_code, ' ' ORDER BY i.instance_id) AS runs,
        count(*) FILTER (WHERE i.execution_status_code = 'S') AS succeeded
    FROM (
        SELECT
            b.batch_instance_id AS instance_id,
            b.execution_status_code
        FROM omd_report.batch_execution_log AS b
        WHERE b.execution_context ->> 'task_id' = t.task_id::text
        UNION ALL
        SELECT
            m.module_instance_id,
            m.execution_status_code
        FROM omd_report.module_execution_log AS m
        WHERE m.execution_context ->> 'task_id' = t.task_id::text AND m.batch_instance_id = 0
    ) AS i
) AS r
WHERE t.created_at >= (SELECT min(n.began_at) FROM night.began AS n)
ORDER BY t.task_id;
