-- A run that begins holds the Modules and then wants their instances, which an upgrade of an old
-- version has locked: they would wait for each other. So the columns and checks that an upgrade
-- adds to the Modules and to the instances are added here, in a transaction before the
-- installation, which holds nothing else. It locks all at once, or none. It waits in turns of a
-- moment, so that others begin meanwhile. Each installation runs this script; it does nothing where
-- process control is not installed, or is up to date. A new database gets the columns from
-- migrations V061, V064, V069, V082, V090 and V101.

SET LOCAL search_path = pg_catalog, pg_temp;

DO $do$
DECLARE
    v_is_locked boolean := FALSE;
    v_has_kind boolean;
    v_has_order boolean;
    v_has_former boolean;
    v_has_proceeded boolean;
BEGIN
    -- Not by to_regclass: a new administrator may not look into the schema yet.
    SELECT
        count(*) FILTER (WHERE a.attname = 'module_kind_code') > 0,
        count(*) FILTER (WHERE a.attname = 'success_order') > 0,
        count(*) FILTER (WHERE a.attname = 'started_by') > 0,
        count(*) FILTER (WHERE a.attname = 'has_proceeded') > 0
    INTO v_has_kind, v_has_order, v_has_former, v_has_proceeded
    FROM pg_class AS c
    INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
    INNER JOIN pg_attribute AS a ON c.oid = a.attrelid
    WHERE n.nspname = 'omd' AND c.relname IN ('module', 'module_instance')
    HAVING count(*) > 0;
    IF v_has_proceeded IS NOT FALSE OR (v_has_kind AND NOT v_has_former) THEN
        RETURN;
    END IF;
    -- In a database of the first version the columns of migration V002 are still to come, and the
    -- order of columns stays that of the migrations: sql/setup/former.sql locks the tables there.
    PERFORM FROM pg_class AS c
    INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
    WHERE n.nspname = 'omd' AND c.relname = 'table_format';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('role', 'omd_owner', TRUE);
    LOCK TABLE omd.installed_file IN SHARE ROW EXCLUSIVE MODE;
    PERFORM set_config('lock_timeout', '200ms', TRUE);
    WHILE NOT v_is_locked LOOP
        BEGIN
            LOCK TABLE omd.batch_instance, omd.module, omd.module_instance IN ACCESS EXCLUSIVE MODE;
            v_is_locked := TRUE;
        EXCEPTION
            WHEN lock_not_available THEN
                PERFORM pg_sleep(0.1);
        END;
    END LOOP;
    -- Where columns of migration V007 are still to come, the order of columns stays that of the
    -- migrations.
    IF v_has_former THEN
        IF NOT v_has_order THEN
            ALTER TABLE omd.module_instance
            ADD COLUMN success_order bigint,
            ADD COLUMN newest_instance_id bigint,
            ADD COLUMN is_one_transaction boolean NOT NULL DEFAULT FALSE;
        END IF;
        ALTER TABLE omd.batch_instance
        ADD COLUMN has_proceeded boolean,
        ADD COLUMN proceeded_datetime timestamptz;
        ALTER TABLE omd.module_instance
        ADD COLUMN has_proceeded boolean,
        ADD COLUMN proceeded_datetime timestamptz;
    END IF;
    IF v_has_kind THEN
        RETURN;
    END IF;
    -- The defaults are for Modules that the former version registers until the installation.
    ALTER TABLE omd.module
    ADD COLUMN module_kind_code text NOT NULL DEFAULT 'SPARK',
    ADD COLUMN engine_code text DEFAULT 'SPARK',
    ADD COLUMN job text,
    ADD COLUMN backoff interval NOT NULL DEFAULT interval '10 seconds',
    ADD COLUMN backoff_limit interval NOT NULL DEFAULT interval '1 hour',
    ADD COLUMN max_failures integer NOT NULL DEFAULT 10,
    ADD COLUMN is_source boolean NOT NULL DEFAULT FALSE,
    ADD COLUMN awaits_return boolean NOT NULL DEFAULT FALSE,
    ADD CONSTRAINT ck_module_backoff CHECK (
        backoff >= interval '0' AND backoff_limit >= interval '0'
    ),
    ADD CONSTRAINT ck_module_max_failures CHECK (max_failures >= 0);
    -- Not by a change of the type, which writes the table again: to a call that waits here with a
    -- snapshot from before, it would be empty. No Module gets an event for it. SQL of blanks never
    -- ran.
    ALTER TABLE omd.module DISABLE TRIGGER USER;
    UPDATE omd.module
    SET
        executable = CASE WHEN executable ~ '\S' THEN executable END,
        module_kind_code = CASE WHEN executable ~ '\S' THEN 'SQL' ELSE 'SPARK' END,
        engine_code = CASE WHEN executable ~ '\S' THEN 'POSTGRES' ELSE 'SPARK' END
    WHERE executable IS NOT NULL;
    ALTER TABLE omd.module
    ENABLE TRIGGER USER,
    ADD CONSTRAINT ck_module_engine CHECK (engine_code IN ('POSTGRES', 'SPARK')),
    ADD CONSTRAINT ck_module_part CHECK ((engine_code IS NULL) = (module_kind_code = 'PART'));
END
$do$;
