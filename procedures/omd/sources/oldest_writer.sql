-- A row gets its position before its transaction commits, so an open transaction that has written
-- may still bring rows that lie before visible ones. Its lock on the table shows it. The function
-- is SECURITY DEFINER, since a role sees the start of its own transactions only.

CREATE OR REPLACE FUNCTION omd.oldest_writer(
    p_table regclass,
    OUT p_since timestamptz,
    OUT p_who text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $oldest_writer$
BEGIN
    -- A session whose start is not known, and a prepared transaction, count as begun at -infinity.
    -- A session that waits for the lock may already have its time.
    SELECT
        coalesce(a.xact_start, '-infinity'),
        coalesce(
            'the transaction of process ' || l.pid,
            'a prepared transaction'
        )
        || coalesce(' since ' || date_trunc('second', a.xact_start), '')
    INTO p_since, p_who
    FROM pg_locks AS l
    LEFT JOIN LATERAL pg_stat_get_activity(l.pid) AS a ON a.pid = l.pid
    WHERE l.locktype = 'relation'
        AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
        -- Most tables have no relatives, and are not asked for them in a statement of its own.
        AND l.relation = ANY(
            coalesce(
                (
                    SELECT omd.table_family(c.oid) FROM pg_class AS c
                    WHERE c.oid = p_table
                        AND (
                            c.relhassubclass
                            OR EXISTS (SELECT FROM pg_inherits AS h WHERE h.inhrelid = c.oid)
                        )
                ),
                ARRAY[p_table::oid]
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

COMMENT ON FUNCTION omd.oldest_writer IS
'For rooms: Returns the oldest open transaction that has written, or waits to write, to the table '
'p_table, a partition or a parent of it: p_since, its start, and p_who, its name; NULL when there '
'is none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.oldest_writer TO omd_runner, omd_admin;
