-- What ends tasks keeps their tables locked until it commits, and then wants tables that the
-- installation has locked: they would wait for each other. So the column that an upgrade adds to
-- these tables is added here, in a transaction before the installation, which holds nothing else.
-- It locks all of a family at once, or none, and waits in turns of a moment, so that tasks go on
-- meanwhile. Each installation runs this script; it does nothing where dispatch is not installed,
-- or is up to date. Its comment comes from migrations/V117__pending_since.sql; the families that
-- are registered later have the column from the start.

SET LOCAL search_path = pg_catalog, pg_temp;

DO $do$
DECLARE
    v_family text;
    v_tables text[];
    v_is_locked boolean;
BEGIN
    FOR v_family, v_tables IN
        -- Not by to_regclass: a new administrator may not look into the schema yet.
        SELECT
            regexp_replace(c.relname, '^(old_)?task_data_|_swap$', '', 'g'),
            array_agg(format('omd_dispatch.%I', c.relname) ORDER BY c.relname)
        FROM pg_class AS c
        INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
        WHERE n.nspname = 'omd_dispatch'
            AND (
                c.relkind = 'p' AND c.relname ~ '^(old_)?task_data_'
                OR c.relkind = 'r' AND c.relname ~ '^task_data_.*_swap$'
            )
            AND NOT EXISTS (
                SELECT FROM pg_attribute AS a
                WHERE a.attrelid = c.oid AND a.attname = 'pending_since'
            )
        GROUP BY 1
        ORDER BY 1
    LOOP
        PERFORM set_config('role', 'omd_owner', TRUE);
        LOCK TABLE omd.installed_file IN SHARE ROW EXCLUSIVE MODE;
        PERFORM set_config('lock_timeout', '200ms', TRUE);
        v_is_locked := FALSE;
        WHILE NOT v_is_locked LOOP
            BEGIN
                EXECUTE format(
                    'LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', array_to_string(v_tables, ', ')
                );
                v_is_locked := TRUE;
            EXCEPTION
                WHEN lock_not_available THEN
                    PERFORM pg_sleep(0.1);
            END;
        END LOOP;
        EXECUTE (
            SELECT string_agg(
                format('ALTER TABLE %s ADD COLUMN pending_since timestamptz', t), '; '
            )
            FROM unnest(v_tables) AS t
        );
    END LOOP;
END
$do$;
