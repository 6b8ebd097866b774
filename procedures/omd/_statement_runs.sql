-- Does a backend still execute the statement that it executed then? All commits inside one CALL
-- have the same statement_timestamp(), and pg_stat_activity shows the same moment as query_start.
-- So a role without grants can neither fake a live run nor block a dead one from being given up, as
-- it could with a lock. Where the server hides or does not keep query_start, a backend that is
-- there counts as alive: a run that waits too long is better than one that is undone while it
-- writes.

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
    IF p_backend_pid = pg_backend_pid() AND p_statement_start IS NOT NULL THEN
        RETURN p_statement_start = statement_timestamp();
    END IF;
    -- What this transaction has read of it before may be older than the run.
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
'Whether the backend p_backend_pid still executes the statement that began at p_statement_start '
'(its statement_timestamp()). NULL as p_statement_start, or no right to see it: whether the '
'backend is there. Locks: none.';
REVOKE ALL ON FUNCTION omd._statement_runs FROM PUBLIC;
