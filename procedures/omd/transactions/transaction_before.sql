-- A transaction that has begun and not written has its now() already, but neither an xid nor a lock
-- on the table. The start of a statement is known before that of its transaction is. Where the
-- session of another role can't be looked into, its lock on its own virtual transaction shows that
-- it has one, and nobody knows since when. The function is SECURITY DEFINER, since a role sees the
-- start of its own transactions only.

CREATE OR REPLACE FUNCTION omd.transaction_before(
    p_moment timestamptz,
    OUT p_since timestamptz,
    OUT p_who text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $transaction_before$
BEGIN
    SELECT
        s.since,
        'the transaction of process ' || s.pid
        || coalesce(' since ' || date_trunc('second', nullif(s.since, '-infinity')), '')
    INTO p_since, p_who
    FROM (
        SELECT
            a.pid,
            CASE
                WHEN a.backend_type IS NOT NULL
                    THEN coalesce(a.xact_start, CASE WHEN a.state = 'active' THEN a.query_start END)
                WHEN EXISTS (
                    SELECT FROM pg_locks AS l
                    WHERE l.locktype = 'virtualxid' AND l.pid = a.pid
                )
                    THEN '-infinity'
            END AS since
        FROM pg_stat_get_activity(NULL) AS a
        WHERE a.datid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
            AND a.pid <> pg_backend_pid()
            -- A parallel worker has the start of its leader, and the others write no rows.
            AND coalesce(
                a.backend_type NOT IN ('autovacuum worker', 'parallel worker', 'walsender'), TRUE
            )
    ) AS s
    WHERE s.since <= p_moment
    ORDER BY s.since
    LIMIT 1;
END
$transaction_before$;

COMMENT ON FUNCTION omd.transaction_before IS
'For rooms: Returns the oldest open transaction of this database, other than that of the caller, '
'that began at p_moment or before: p_since, its start (-infinity: that can''t be seen), and p_who, '
'its name; NULL when there is none. Prepared transactions are not here. Locks: none.';
