-- What a purge deletes of this room. Each delivery is a transaction of its own, so that no
-- interface is locked for long.

INSERT INTO omd.purge_step (
    schema_name, position, step_routine, rows_per_step, needs_keep, table_code, old_rows
)
VALUES
(
    'omd_delivery', 1, '_purge_deltas', 1, TRUE, 'omd_delivery.delivery',
    $old_rows$
        SELECT FROM (
            SELECT t.layer_code, t.delivery_status FROM omd_delivery.delivery AS t
            WHERE t.purged_datetime IS NULL AND t.status_datetime < $1
            ORDER BY t.status_datetime, t.delivery_id LIMIT 1000
        ) AS t
        INNER JOIN omd_delivery.delivery_status AS s USING (layer_code, delivery_status)
        WHERE s.is_end
    $old_rows$
)
ON CONFLICT (schema_name, position) DO UPDATE SET
    step_routine = excluded.step_routine,
    needs_keep = excluded.needs_keep,
    table_code = excluded.table_code,
    old_rows = excluded.old_rows;
