-- Who is still writing to a base table: his rows may be before others that can be seen already.
-- Sees every session, whoever asks. Locks: none.

CREATE OR REPLACE FUNCTION omd_lineage.oldest_writer(
    p_table regclass,
    OUT since timestamptz,
    OUT who text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $oldest_writer$
BEGIN
    -- A session of whose start nothing is known, or a prepared transaction, began at -infinity. One
    -- that waits for the lock has its time already.
    SELECT
        coalesce(a.xact_start, '-infinity'),
        coalesce(
            'the transaction of process ' || l.pid,
            'a prepared transaction'
        )
        || coalesce(' since ' || date_trunc('second', a.xact_start), '')
    INTO since, who
    FROM pg_locks AS l
    LEFT JOIN LATERAL pg_stat_get_activity(l.pid) AS a ON a.pid = l.pid
    WHERE l.locktype = 'relation'
        AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
        AND (
            l.relation = p_table
            OR l.relation IN (
                SELECT t.relid FROM pg_partition_tree(p_table) AS t
            )
        )
        AND l.mode IN (
            'RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'
        )
        AND l.pid IS DISTINCT FROM pg_backend_pid()
    ORDER BY coalesce(a.xact_start, '-infinity')
    LIMIT 1;
END
$oldest_writer$;

COMMENT ON FUNCTION omd_lineage.oldest_writer IS
'The oldest transaction that is open and has written, or waits to write, to the table '
'p_table or a partition of it: its start and its name; NULL when there is none. Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage.oldest_writer FROM PUBLIC;
