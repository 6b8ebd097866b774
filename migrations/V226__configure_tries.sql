-- V226: configure takes how often an event is sent. A call that executes the former one goes on
-- under another name, until sql/cleanup/drop_retired.sql drops it. Applied once.

DO $do$
BEGIN
    IF EXISTS (
        SELECT FROM pg_proc AS p
        WHERE p.oid = to_regproc('omd_event.configure')
            AND NOT 'p_tries' = ANY(p.proargnames)
    ) THEN
        COMMENT ON PROCEDURE omd_event.configure IS 'Retired.';
        ALTER PROCEDURE omd_event.configure RENAME TO _former_configure;
    END IF;
END
$do$;
