-- All commits inside one CALL have the same statement_timestamp(), and pg_stat_activity shows the
-- same moment as query_start. So a role without grants can neither make a dead run look alive nor
-- keep it from being declared dead, as it could with an advisory lock. Where the server hides or
-- does not keep query_start, a backend that exists counts as alive: a dead run then waits longer
-- than it must, but a live one is never undone while it writes.

CREATE OR REPLACE FUNCTION omd._statement_runs(
    p_backend_pid integer,
    p_statement_start timestamptz
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $statement_runs$
BEGIN
    -- What runs on the primary is not seen here, and nobody is declared dead by a report.
    IF pg_is_in_recovery() THEN
        RETURN p_backend_pid IS NOT NULL;
    END IF;
    IF p_backend_pid = pg_backend_pid() AND p_statement_start IS NOT NULL THEN
        RETURN p_statement_start = statement_timestamp();
    END IF;
    -- What this transaction has read before may be older than the run.
    PERFORM pg_stat_clear_snapshot();
    RETURN EXISTS (
        SELECT FROM pg_stat_activity AS a
        WHERE a.pid = p_backend_pid
            AND CASE
                WHEN p_statement_start IS NULL OR a.query_start IS NULL
                    THEN coalesce(a.backend_start <= p_statement_start, TRUE)
                ELSE a.query_start = p_statement_start AND a.state = 'active'
            END
    );
END
$statement_runs$;

COMMENT ON FUNCTION omd._statement_runs IS
'Returns whether the backend p_backend_pid still executes the statement that began at '
'p_statement_start (its statement_timestamp()). When p_statement_start is NULL, or the caller has '
'no right to see it, it returns whether the backend exists; on a standby, that of a run on the '
'primary counts as alive. Locks: none.';
