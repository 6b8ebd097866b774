-- What a purge deletes of the runs and their log.

INSERT INTO omd.purge_step (
    schema_name, position, step_routine, rows_per_step, needs_keep, table_code, old_rows
)
VALUES
('omd', 1, '_prepare_purge', 1, TRUE, NULL, NULL),
(
    'omd', 2, '_purge_module_instances', 5000, TRUE, 'omd.module_instance',
    $old_rows$
        SELECT FROM (
            SELECT t.start_datetime AS at FROM omd.module_instance AS t
            WHERE t.module_instance_id > 0
            ORDER BY t.module_instance_id LIMIT 1000
        ) AS t
        WHERE t.at < $1
    $old_rows$
),
(
    'omd', 3, '_purge_batch_instances', 5000, TRUE, 'omd.batch_instance',
    $old_rows$
        SELECT FROM (
            SELECT t.start_datetime AS at FROM omd.batch_instance AS t
            WHERE t.batch_instance_id > 0
            ORDER BY t.batch_instance_id LIMIT 1000
        ) AS t
        WHERE t.at < $1
    $old_rows$
),
(
    'omd', 4, '_purge_events', 5000, TRUE, 'omd.event_log',
    $old_rows$
        SELECT FROM (
            SELECT t.event_datetime AS at FROM omd.event_log AS t
            ORDER BY t.event_id LIMIT 1000
        ) AS t
        WHERE t.at < $1
    $old_rows$
)
ON CONFLICT (schema_name, position) DO UPDATE SET
    step_routine = excluded.step_routine,
    needs_keep = excluded.needs_keep,
    table_code = excluded.table_code,
    old_rows = excluded.old_rows;
