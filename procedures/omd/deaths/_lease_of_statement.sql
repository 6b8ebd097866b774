-- A statement that runs in the database has no lease where the server shows when it has ended.
-- Where omd_owner may not see that (some managed servers give pg_read_all_stats to nobody), a pool
-- that keeps the connection open would keep a dead run alive for ever. Nothing can renew it while
-- the statement executes, so it is longer than a run takes; a run that is declared dead too early
-- can't commit its rows, as it ends in the transaction that wrote them.

CREATE OR REPLACE FUNCTION omd._lease_of_statement()
RETURNS interval
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN NOT pg_has_role('omd_owner', 'pg_read_all_stats', 'USAGE') THEN interval '1 day'
        END AS lease;
END;

COMMENT ON FUNCTION omd._lease_of_statement IS
'Returns how long a run lives at most that ends with its statement: a day where omd_owner can''t '
'see when that has ended, else NULL. Locks: none.';
