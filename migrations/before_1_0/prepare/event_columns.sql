-- Whoever begins or ends a run writes events late, with its own rows locked, so an upgrade must not
-- want the log while it holds the tables of process control: they would wait for each other. So the
-- column that an upgrade adds to the log is added here, in a transaction of its own. It waits in
-- turns of a moment, so that others write meanwhile. Each installation runs this script; it does
-- nothing where process control is not installed, or is up to date. A new database gets the column
-- from migrations/V118__reasons.sql.

SET LOCAL search_path = pg_catalog, pg_temp;

DO $do$
DECLARE
    v_is_locked boolean := FALSE;
BEGIN
    -- Not by to_regclass: a new administrator may not look into the schema yet.
    PERFORM
    FROM pg_class AS c
    INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
    WHERE n.nspname = 'omd' AND c.relname = 'event_log' AND NOT EXISTS (
        SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'reason'
    );
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('role', 'omd_owner', TRUE);
    LOCK TABLE omd.installed_file IN SHARE ROW EXCLUSIVE MODE;
    PERFORM set_config('lock_timeout', '200ms', TRUE);
    WHILE NOT v_is_locked LOOP
        BEGIN
            LOCK TABLE omd.event_log IN ACCESS EXCLUSIVE MODE;
            v_is_locked := TRUE;
        EXCEPTION
            WHEN lock_not_available THEN
                PERFORM pg_sleep(0.1);
        END;
    END LOOP;
    ALTER TABLE omd.event_log ADD COLUMN reason text;
    -- Not in one: each event of before would get the reason of this session.
    ALTER TABLE omd.event_log
    ALTER COLUMN reason SET DEFAULT nullif(current_setting('omd.reason', TRUE), '');
END
$do$;
