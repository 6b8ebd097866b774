-- A Batch has no rows of its own to roll back, so its rollback is pending when an administrator
-- marked one of its instances, or a Module Instance in one, with R.

CREATE OR REPLACE FUNCTION omd._batch_rollback_is_pending(
    p_batch_id integer
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    -- The planner believes that many instances wait, and would look through all of them for the
    -- first one. Two bounds and MATERIALIZED lead it to the index of those that do.
    WITH waiting AS MATERIALIZED (
        SELECT mi.batch_instance_id
        FROM omd.batch_module AS bm
        INNER JOIN omd.module_instance AS mi
            ON bm.module_id <= mi.module_id AND bm.module_id >= mi.module_id
        WHERE
            bm.batch_id = p_batch_id
            AND omd._awaits_rollback(
                mi.execution_status_code,
                mi.next_run_indicator,
                mi.rolled_back_by_module_instance_id
            )
    )

    SELECT
        EXISTS (
            SELECT FROM omd.batch_instance AS bi
            WHERE
                bi.batch_id = p_batch_id
                AND bi.next_run_indicator = 'R'
                AND bi.execution_status_code <> 'E'
        )
        OR EXISTS (
            SELECT FROM waiting AS w
            INNER JOIN omd.batch_instance AS bi ON w.batch_instance_id = bi.batch_instance_id
            WHERE bi.batch_id = p_batch_id
        );
END;

COMMENT ON FUNCTION omd._batch_rollback_is_pending IS
'Returns whether a rollback waits for the next run of the Batch p_batch_id: one of its ended '
'instances, or a Module Instance in one, is marked R. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._batch_rollback_is_pending TO omd_reader;
