-- What a purge deletes of this room.

INSERT INTO omd.purge_step (
    schema_name, position, step_routine, rows_per_step, needs_keep, table_code, old_rows
)
VALUES
(
    'omd_decision', 1, '_purge_kept', 5000, TRUE, 'omd_decision.cycle',
    $old_rows$
        SELECT FROM (
            SELECT t.module_instance_id FROM omd_decision.cycle AS t
            ORDER BY t.module_instance_id LIMIT 1000
        ) AS t
        INNER JOIN omd_decision.run AS r ON t.module_instance_id = r.module_instance_id
        WHERE r.begun_at < $1
    $old_rows$
)
ON CONFLICT (schema_name, position) DO UPDATE SET
    step_routine = excluded.step_routine,
    needs_keep = excluded.needs_keep,
    table_code = excluded.table_code,
    old_rows = excluded.old_rows;
