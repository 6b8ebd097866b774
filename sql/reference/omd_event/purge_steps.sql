-- What a purge deletes of this room, by its own setting.

INSERT INTO omd.purge_step (
    schema_name, position, step_routine, rows_per_step, needs_keep, table_code, old_rows
)
VALUES
(
    'omd_event', 1, '_purge_published', 5000, TRUE, 'omd_event.event',
    $old_rows$
        SELECT FROM (
            SELECT t.published_datetime FROM omd_event.event AS t
            ORDER BY t.event_number LIMIT 1000
        ) AS t
        CROSS JOIN omd_event.setting AS s
        WHERE t.published_datetime < statement_timestamp() - s.keep AND $1 IS NOT NULL
    $old_rows$
)
ON CONFLICT (schema_name, position) DO UPDATE SET
    step_routine = excluded.step_routine,
    needs_keep = excluded.needs_keep,
    table_code = excluded.table_code,
    old_rows = excluded.old_rows;
