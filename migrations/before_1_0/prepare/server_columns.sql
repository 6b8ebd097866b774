-- Each run that begins reads these tables while it holds its Module, and then wants what the
-- installation has locked: they would wait for each other, and others for the whole installation.
-- So the columns and checks that an upgrade adds to them are added here, in a transaction before
-- the installation, which holds nothing else. It locks all at once, or none, and waits in turns of
-- a moment, so that others go on meanwhile. None of it writes a table again: to a call that waits
-- here with a snapshot from before, it would be empty. Each installation runs this script; it does
-- nothing where these tables are not there, or are up to date. The comments come from
-- migrations/before_1_0/V119__server.sql.

SET LOCAL search_path = pg_catalog, pg_temp;

DO $do$
DECLARE
    v_is_locked boolean := FALSE;
BEGIN
    -- Not by to_regclass: a new administrator may not look into the schema yet.
    PERFORM
    FROM pg_class AS c
    INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
    WHERE n.nspname = 'omd' AND c.relname = 'installation' AND NOT EXISTS (
        SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'product_version'
    );
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('role', 'omd_owner', TRUE);
    LOCK TABLE omd.installed_file IN SHARE ROW EXCLUSIVE MODE;
    PERFORM set_config('lock_timeout', '200ms', TRUE);
    WHILE NOT v_is_locked LOOP
        BEGIN
            LOCK TABLE omd.undone_run, omd.installation, omd.server_change, omd.server_routine
            IN ACCESS EXCLUSIVE MODE;
            v_is_locked := TRUE;
        EXCEPTION
            WHEN lock_not_available THEN
                PERFORM pg_sleep(0.1);
        END;
    END LOOP;
    ALTER TABLE omd.installation
    ADD COLUMN product_version text,
    ADD COLUMN timeline_id integer,
    ADD COLUMN server_start timestamptz,
    ADD COLUMN table_oid oid,
    ADD COLUMN on_failover text NOT NULL DEFAULT 'GO_ON',
    ADD CONSTRAINT ck_installation_on_failover CHECK (on_failover IN ('GO_ON', 'ASK'));
    ALTER TABLE omd.server_change
    ADD COLUMN timeline_id integer,
    ADD COLUMN ids_skipped bigint,
    ADD COLUMN is_asked boolean NOT NULL DEFAULT FALSE,
    DROP CONSTRAINT ck_server_change_kind,
    ADD CONSTRAINT ck_server_change_kind CHECK (kind IN ('FAILOVER', 'MOVED', 'COPIED'));
    ALTER TABLE omd.server_routine ADD COLUMN skip_routine text;
    ALTER TABLE omd.undone_run ALTER COLUMN transaction_id DROP NOT NULL;
END
$do$;
