-- This script drops the routines that an upgrade has retired; their comment begins with 'Retired.'.
-- A call that began before the upgrade continues with its former text and looks up what that names,
-- so the routines stay until every such call has ended. Each installation runs the script, in a
-- transaction after its own, since only a call that begins after its commit is sure to see the new
-- routines. The next installation drops what stays now.

SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE omd_owner;

DO $do$
DECLARE
    v_retired CONSTANT text := 'Retired. For calls from before ';
    v_now CONSTANT timestamptz := clock_timestamp();
    v_oldest_call timestamptz;
    v_routine record;
    v_unused text[];
    v_is_used boolean := FALSE;
    v_detail text;
BEGIN
    PERFORM FROM pg_proc AS p
    WHERE p.pronamespace::regnamespace::text ~ '^omd(_|$)'
        AND obj_description(p.oid, 'pg_proc') LIKE 'Retired.%';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    LOCK TABLE omd.installed_file IN SHARE ROW EXCLUSIVE MODE;

    -- A session whose activity is hidden may execute anything, and since any time.
    SELECT
        coalesce(
            min(coalesce(least(a.query_start, a.xact_start), '-infinity')), 'infinity'
        )
    INTO v_oldest_call
    FROM pg_stat_activity AS a
    WHERE a.datname = current_database()
        AND a.pid <> pg_backend_pid()
        AND a.state IS DISTINCT FROM 'idle'
        AND coalesce(a.backend_type, 'client backend')
        NOT IN ('autovacuum worker', 'parallel worker', 'walsender');

    FOR v_routine IN
        SELECT p.oid::regprocedure AS name, since.moment
        FROM pg_proc AS p
        CROSS JOIN LATERAL obj_description(p.oid, 'pg_proc') AS d (comment)
        CROSS JOIN LATERAL coalesce(
            nullif(substr(d.comment, length(v_retired) + 1), '')::timestamptz, v_now
        ) AS since (moment)
        WHERE p.pronamespace::regnamespace::text ~ '^omd(_|$)' AND d.comment LIKE 'Retired.%'
    LOOP
        IF v_routine.moment < v_oldest_call THEN
            v_unused := v_unused || v_routine.name::text;
        ELSE
            v_is_used := TRUE;
            EXECUTE format(
                'COMMENT ON ROUTINE %s IS %L',
                v_routine.name,
                v_retired || to_char(
                    v_routine.moment AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US "UTC"'
                )
            );
        END IF;
    END LOOP;

    IF v_unused IS NOT NULL THEN
        BEGIN
            EXECUTE 'DROP ROUTINE ' || array_to_string(v_unused, ', ');
        EXCEPTION
            WHEN dependent_objects_still_exist THEN
                GET STACKED DIAGNOSTICS v_detail = PG_EXCEPTION_DETAIL;
                RAISE WARNING USING
                    MESSAGE = 'internal routines of the former version stay: other objects use them',
                    DETAIL = v_detail,
                    HINT = 'Change these objects, then install again.';
        END;
    END IF;
    IF v_is_used THEN
        RAISE NOTICE USING
            MESSAGE = 'internal routines of the former version stay: sessions are at work that '
                'may call them',
            HINT = 'They do no harm. The next installation drops them.';
    END IF;
END
$do$;
