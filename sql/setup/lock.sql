-- An installation begins here, inside the transaction of the caller. One installer works at a time.
-- The first one has no table of OMD to lock, so it takes an advisory lock. Its key is known to
-- anybody, so the wait has an end, and who holds it is named. Later ones lock a table that only OMD
-- can write (begin.sql). Each installation runs this file.

SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL client_min_messages = warning;

DO $do$
DECLARE
    v_timeout CONSTANT text := current_setting('lock_timeout');
    v_holder record;
BEGIN
    PERFORM set_config('plpgsql.extra_errors', 'all', TRUE);
    PERFORM FROM pg_tables AS t
    WHERE t.schemaname = 'omd' AND t.tablename = 'installed_file' AND t.tableowner = 'omd_owner';
    IF FOUND THEN
        RETURN;
    END IF;
    BEGIN
        IF v_timeout::interval NOT BETWEEN interval '1 ms' AND interval '30 s' THEN
            PERFORM set_config('lock_timeout', '30s', TRUE);
        END IF;
        PERFORM pg_advisory_xact_lock(7302500, 0);
    EXCEPTION
        WHEN lock_not_available THEN
            SELECT l.pid, a.usename, a.application_name
            INTO v_holder
            FROM pg_locks AS l
            LEFT JOIN pg_stat_activity AS a USING (pid)
            WHERE l.locktype = 'advisory'
                AND l.classid = 7302500
                AND l.objid = 0
                AND l.objsubid = 2
                AND l.granted
                AND l.database = (
                    SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()
                )
            LIMIT 1;
            RAISE EXCEPTION USING
                ERRCODE = 'OM904',
                MESSAGE = format(
                    'the process %s of %s (%s) holds the lock of the first installation',
                    v_holder.pid, v_holder.usename, v_holder.application_name
                ),
                DETAIL = jsonb_build_object(
                    'pid', v_holder.pid,
                    'user', v_holder.usename,
                    'application', v_holder.application_name
                ),
                HINT = format(
                    'Install again when it has ended, or end it: SELECT pg_terminate_backend(%s);',
                    v_holder.pid
                );
    END;
    PERFORM set_config('lock_timeout', v_timeout, TRUE);
END
$do$;
