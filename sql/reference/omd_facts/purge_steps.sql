-- What a purge deletes of this room: keys that every reader has passed, also without a keep.

INSERT INTO omd.purge_step (
    schema_name, position, step_routine, rows_per_step, needs_keep, table_code, old_rows
)
VALUES
(
    'omd_facts', 1, '_purge_keys', 5000, FALSE, 'omd_facts.change_key',
    $old_rows$
        SELECT FROM omd_facts.entity AS e
        CROSS JOIN LATERAL omd_facts._unneeded_upto(e.interface_id, $1) AS u (change_id)
        INNER JOIN omd_facts.change_key AS k
            ON e.entity_id = k.entity_id AND k.change_id <= u.change_id
        LIMIT 1000
    $old_rows$
)
ON CONFLICT (schema_name, position) DO UPDATE SET
    step_routine = excluded.step_routine,
    needs_keep = excluded.needs_keep,
    table_code = excluded.table_code,
    old_rows = excluded.old_rows;
