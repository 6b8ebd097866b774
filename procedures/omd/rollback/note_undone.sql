-- Whoever takes rows back marks the runs and calls this in the same transaction. Rows of a run that
-- failed, and whose rows and success would have been one transaction, were never visible; of one
-- that failed before this was recorded nobody knows.

CREATE OR REPLACE FUNCTION omd.note_undone(
    p_instance_array bigint[],
    p_undone_by bigint
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO omd.undone_run (module_instance_id, undone_by, undone_datetime, transaction_id)
    SELECT DISTINCT
        i.id,
        coalesce(p_undone_by, i.id) AS undone_by,
        clock_timestamp() AS undone_datetime,
        pg_current_xact_id() AS transaction_id
    FROM unnest(p_instance_array) AS i (id)
    INNER JOIN omd.module_instance AS mi ON i.id = mi.module_instance_id
    WHERE
        mi.execution_status_code = 'S'
        OR (
            mi.newest_instance_id IS NOT NULL
            AND NOT (mi.is_session_bound OR mi.is_one_transaction)
        )
    ORDER BY i.id
    ON CONFLICT (module_instance_id) DO NOTHING;
END;

COMMENT ON FUNCTION omd.note_undone IS
'For rooms: notes that the rows of the runs p_instance_array were taken back in this transaction, '
'by the run p_undone_by; NULL: by no run. Runs that are noted already stay as they are. Locks: '
'the rows that it inserts.';
