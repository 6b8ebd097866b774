-- A purge keeps everything of the Module from this instance on. Each part is one look into an
-- index.

CREATE OR REPLACE FUNCTION omd._oldest_needed_module_instance(
    p_module_id integer
)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        least(
            omd._last_real_module_run(p_module_id),
            (
                SELECT min(mi.module_instance_id)
                FROM omd.module_instance AS mi
                WHERE
                    mi.module_id = p_module_id
                    AND omd._is_open(
                        mi.execution_status_code,
                        mi.next_run_indicator,
                        mi.rolled_back_by_module_instance_id
                    )
            ),
            (
                -- The next load window starts where this one ends.
                SELECT w.module_instance_id
                FROM omd.last_window(p_module_id) AS w
            ),
            (
                -- A partial restart of one of its Batches would skip this.
                SELECT min(mi.module_instance_id)
                FROM omd.batch_module AS bm
                CROSS JOIN
                    LATERAL unnest(
                        omd._failed_chains(bm.batch_id, ARRAY[9223372036854775807])
                    ) AS failed (batch_instance_id)
                INNER JOIN omd.module_instance AS mi
                    ON failed.batch_instance_id = mi.batch_instance_id
                WHERE
                    bm.module_id = p_module_id
                    AND mi.module_id = p_module_id
                    AND mi.batch_instance_id <> 0
            )
        );
END;

COMMENT ON FUNCTION omd._oldest_needed_module_instance IS
'Returns the oldest instance of the Module p_module_id that an evaluation may still need: its '
'last real run, what executes, waits for a rollback or carries a directive, the newest load '
'window that counts, and what ran in failed Batches that wait for a restart. It returns NULL when '
'there is none. Locks: none.';
