-- Begins an installation, inside the transaction of the caller: one installer at a time. Always
-- runs.

SET LOCAL client_min_messages = warning;

DO $do$
BEGIN
    PERFORM pg_advisory_xact_lock(7302500, 0);
    PERFORM set_config('plpgsql.extra_errors', 'all', TRUE);
END
$do$;
