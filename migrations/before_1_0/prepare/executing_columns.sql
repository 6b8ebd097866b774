-- A run that begins or ends holds its rows of process control, and a publisher that of events, so an
-- upgrade must not want their tables while it holds others: they would wait for each other. So what
-- an upgrade changes there is changed here, in a transaction of its own, which waits in turns of a
-- moment, so that others write meanwhile. Each installation runs this script; it does nothing where
-- process control is not installed, is up to date, or is older than V118, whose columns come first.
-- A new database gets the same from migrations/V131__executing_from.sql and
-- migrations/V135__uncounted_events.sql.

SET LOCAL search_path = pg_catalog, pg_temp;

DO $do$
DECLARE
    v_is_locked boolean := FALSE;
    v_has_events boolean;
BEGIN
    -- Not by to_regclass: a new administrator may not look into the schema yet.
    PERFORM
    FROM pg_class AS c
    INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
    WHERE n.nspname = 'omd' AND c.relname = 'module' AND NOT EXISTS (
        SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'executing_from'
    ) AND EXISTS (
        SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'awaits_return'
    );
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('role', 'omd_owner', TRUE);
    v_has_events := EXISTS (
        SELECT FROM pg_attribute AS a
        WHERE a.attrelid = to_regclass('omd_event.setting') AND a.attname = 'published_datetime'
    );
    LOCK TABLE omd.installed_file IN SHARE ROW EXCLUSIVE MODE;
    PERFORM set_config('lock_timeout', '200ms', TRUE);
    WHILE NOT v_is_locked LOOP
        BEGIN
            LOCK TABLE omd.batch, omd.module, omd.batch_instance, omd.module_instance
            IN ACCESS EXCLUSIVE MODE;
            IF v_has_events THEN
                LOCK TABLE omd_event.setting IN ACCESS EXCLUSIVE MODE;
            END IF;
            v_is_locked := TRUE;
        EXCEPTION
            WHEN lock_not_available THEN
                PERFORM pg_sleep(0.1);
        END;
    END LOOP;
    ALTER TABLE omd.module ADD COLUMN executing_from bigint NOT NULL DEFAULT 0;
    COMMENT ON COLUMN omd.module.executing_from IS
    'No instance of the Module with a lower id executes. Internal: a begin moves it now and then.';
    ALTER TABLE omd.batch ADD COLUMN executing_from bigint NOT NULL DEFAULT 0;
    COMMENT ON COLUMN omd.batch.executing_from IS
    'No instance of the Batch with a lower id executes. Internal: a begin moves it now and then.';
    CREATE INDEX ix_module_instance_executing ON omd.module_instance (
        module_id, module_instance_id
    ) WHERE (execution_status_code = 'E');
    CREATE INDEX ix_module_instance_waiting ON omd.module_instance (
        module_id, module_instance_id
    ) WHERE (
        next_run_indicator = 'C'
        OR (
            (execution_status_code = 'F' OR next_run_indicator = 'R')
            AND rolled_back_by_module_instance_id IS NULL
        )
    );
    DROP INDEX omd.uq_module_instance_proceeding;
    DROP INDEX omd.uq_batch_instance_proceeding;
    IF v_has_events THEN
        ALTER TABLE omd_event.setting ADD COLUMN counted_number bigint NOT NULL DEFAULT 0;
        COMMENT ON COLUMN omd_event.setting.counted_number IS
        'All events up to this number are in omd_event.counter.';
    END IF;
END
$do$;
