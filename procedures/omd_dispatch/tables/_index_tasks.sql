-- The indexes of live and dead tasks are small, however many tasks have finished. Both models have
-- them. The lane finds claims; the number of the claim only makes their entries differ: when a page
-- is full of equal ones, PostgreSQL searches it for entries to delete, while a claim waits.

CREATE OR REPLACE PROCEDURE omd_dispatch._index_tasks(
    p_table text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $index_tasks$
DECLARE
    v_name text := split_part(p_table, '.', 2);
BEGIN
    EXECUTE format(
        $sql$
        CREATE INDEX %2$I ON %1$s (lane, priority, execution_time, task_id)
        WHERE status = 'PENDING' AND suspension_id IS NULL;
        CREATE INDEX %3$I ON %1$s (lane, claim_token) WHERE status = 'CLAIMED';
        CREATE INDEX %4$I ON %1$s (suspension_id, execution_time) WHERE suspension_id IS NOT NULL;
        CREATE INDEX %5$I ON %1$s (task_id) WHERE status = 'DEAD'
        $sql$,
        p_table,
        'ix_' || v_name || '_claimable',
        'ix_' || v_name || '_claimed',
        'ix_' || v_name || '_suspended',
        'ix_' || v_name || '_dead'
    );
END
$index_tasks$;

COMMENT ON PROCEDURE omd_dispatch._index_tasks IS
'Creates the partial indexes of the table of tasks p_table. Locks: the table.';
