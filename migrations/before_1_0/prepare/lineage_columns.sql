-- A step that runs keeps the tables of lineage locked until it ends, and then wants those of
-- process control, which the installation has locked: they would wait for each other. So the
-- columns and checks that an upgrade adds to these tables are added here, in a transaction before
-- the installation, which holds nothing else. It waits in turns of a moment, so that other steps go
-- on meanwhile. Each installation runs this script; it does nothing where lineage is not installed,
-- or is up to date. A new database gets the columns from migrations/V013__lineage_columns.sql, and
-- the check from migrations/V035__lake_sources.sql and migrations/V070__lineage_sources.sql.

SET LOCAL search_path = pg_catalog, pg_temp;

DO $do$
DECLARE
    v_is_locked boolean := FALSE;
BEGIN
    -- Not by to_regclass: a new administrator may not look into the schema yet.
    PERFORM FROM pg_constraint AS c
    INNER JOIN pg_namespace AS n ON c.connamespace = n.oid
    WHERE n.nspname = 'omd_lineage'
        AND c.conname = 'ck_topic_source_offset'
        AND pg_get_constraintdef(c.oid) NOT LIKE '%RUNS%'; -- it is the newest of them
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('role', 'omd_owner', TRUE);
    LOCK TABLE omd.installed_file IN SHARE ROW EXCLUSIVE MODE;
    PERFORM set_config('lock_timeout', '200ms', TRUE);
    WHILE NOT v_is_locked LOOP
        BEGIN
            LOCK TABLE omd_lineage.topic, omd_lineage.offsets, omd_lineage.log,
            omd_lineage.dependency
            IN ACCESS EXCLUSIVE MODE;
            v_is_locked := TRUE;
        EXCEPTION
            WHEN lock_not_available THEN
                PERFORM pg_sleep(0.1);
        END;
    END LOOP;
    IF NOT EXISTS (
        SELECT FROM pg_attribute AS a
        WHERE a.attrelid = 'omd_lineage.topic'::regclass AND a.attname = 'merge_key'
    ) THEN
        ALTER TABLE omd_lineage.topic
        ADD COLUMN merge_key text[],
        ADD COLUMN recompute_key text[],
        ADD COLUMN max_age interval,
        ADD CONSTRAINT ck_topic_max_age CHECK (max_age > interval '0'),
        DROP CONSTRAINT ck_topic_reload_method,
        ADD CONSTRAINT ck_topic_reload_method CHECK (
            reload_method IN ('DELETE', 'TRUNCATE', 'SWAP')
        );
        ALTER TABLE omd_lineage.offsets
        ADD COLUMN restatement_id bigint,
        ADD COLUMN undone_from timestamptz;
        ALTER TABLE omd_lineage.log
        ADD COLUMN query_id text,
        ADD COLUMN reload_method text;
    END IF;
    ALTER TABLE omd_lineage.topic
    DROP CONSTRAINT IF EXISTS ck_topic_source_offset,
    ADD CONSTRAINT ck_topic_source_offset CHECK (
        source_offset IN ('PROBE', 'CLOCK', 'TRIGGER', 'HAND', 'LAKE', 'FACTS', 'RUNS')
    );
    ALTER TABLE omd_lineage.dependency ADD COLUMN IF NOT EXISTS source_kind_code text;
END
$do$;
