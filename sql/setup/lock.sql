-- An installation begins here, inside the transaction of the caller. The lock lets one installer
-- work at a time. Each installation runs this file.

SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL client_min_messages = warning;

DO $do$
BEGIN
    PERFORM pg_advisory_xact_lock(7302500, 0);
    PERFORM set_config('plpgsql.extra_errors', 'all', TRUE);
END
$do$;
