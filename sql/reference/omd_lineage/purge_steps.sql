-- What a purge deletes of this room. A step may have replaced many rows.

INSERT INTO omd.purge_step (
    schema_name, position, step_routine, rows_per_step, needs_keep, table_code, old_rows
)
VALUES
(
    'omd_lineage', 1, '_purge_log', 100, TRUE, 'omd_lineage.log',
    $old_rows$
        SELECT FROM (
            SELECT t.ts AS at FROM omd_lineage.log AS t
            ORDER BY t.module_instance_id LIMIT 1000
        ) AS t
        WHERE t.at < $1
    $old_rows$
)
ON CONFLICT (schema_name, position) DO UPDATE SET
    step_routine = excluded.step_routine,
    needs_keep = excluded.needs_keep,
    table_code = excluded.table_code,
    old_rows = excluded.old_rows;
