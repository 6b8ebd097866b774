-- What people are shown of runs; columns that a query does not name are not read.

CREATE OR REPLACE FUNCTION omd.shown_runs(
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    module_code text,
    module_kind_code text,
    table_code text,
    execution_status_code text,
    reason_code text,
    start_datetime timestamptz,
    end_datetime timestamptz,
    started_by text,
    source_code text,
    start_value timestamptz,
    start_id bigint,
    end_value timestamptz,
    end_id bigint,
    rolled_back_by_module_instance_id bigint,
    task_id bigint,
    text text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        mi.module_instance_id,
        m.module_code,
        m.module_kind_code,
        m.table_code,
        mi.execution_status_code::text AS execution_status_code,
        mi.reason_code,
        mi.start_datetime,
        mi.end_datetime,
        mi.started_by,
        sc.source_code,
        sc.start_value,
        sc.start_id,
        sc.end_value,
        sc.end_id,
        mi.rolled_back_by_module_instance_id,
        CASE WHEN t.task_id ~ '^[0-9]{1,18}$' THEN t.task_id::bigint END AS task_id,
        concat_ws(
            ' ',
            CASE mi.execution_status_code
                WHEN 'E' THEN 'is at work since ' || date_trunc('second', mi.start_datetime)
                WHEN 'S' THEN 'succeeded at ' || date_trunc('second', mi.end_datetime)
                WHEN 'F' THEN 'failed at ' || date_trunc('second', mi.end_datetime)
                WHEN 'A' THEN 'was aborted at ' || date_trunc('second', mi.end_datetime)
                WHEN 'C' THEN 'was skipped at ' || date_trunc('second', mi.end_datetime)
            END,
            '(' || mi.reason_code || ')',
            CASE
                WHEN mi.rolled_back_by_module_instance_id = mi.module_instance_id
                    THEN 'and was undone'
                ELSE 'and was undone by run ' || mi.rolled_back_by_module_instance_id
            END
        ) AS text
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m ON mi.module_id = m.module_id
    LEFT JOIN omd.source_control AS sc ON mi.module_instance_id = sc.module_instance_id
    LEFT JOIN omd.batch_instance AS bi ON mi.batch_instance_id = bi.batch_instance_id
    CROSS JOIN
        LATERAL (
            SELECT
                coalesce(
                    mi.execution_context ->> 'task_id', bi.execution_context ->> 'task_id'
                ) AS task_id
        ) AS t
    WHERE mi.module_instance_id = any(p_instance_array);
END;

COMMENT ON FUNCTION omd.shown_runs IS
'For rooms: Returns what people are shown of each run of p_instance_array: Module, status, window, '
'the task that ran it, and in text how it ended. Locks: none.';
