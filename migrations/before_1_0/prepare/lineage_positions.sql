-- A step that ends during the upgrade of V004 waits for it inside these two routines. Their text
-- reads the attribute ts of a position, which is pos after the upgrade, so they are changed to read
-- it by its place. Each installation runs this script, in a transaction before its own, since a
-- waiting call keeps the text with which it began. In any other version the script does nothing.

SET LOCAL search_path = pg_catalog, pg_temp;

DO $do$
DECLARE
    v_routine text;
BEGIN
    -- Not by to_regclass: a new administrator may not look into the schema yet.
    PERFORM FROM pg_attribute AS a
    INNER JOIN pg_class AS c ON a.attrelid = c.oid
    INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
    WHERE n.nspname = 'omd_lineage' AND c.relname = 'row_position' AND a.attname = 'ts';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('role', 'omd_owner', TRUE);
    LOCK TABLE omd.installed_file IN SHARE ROW EXCLUSIVE MODE;
    FOREACH v_routine IN ARRAY ARRAY['advance_offset', 'claim_topic'] LOOP
        IF to_regproc('omd_lineage.' || v_routine) IS NOT NULL THEN
            EXECUTE regexp_replace(
                pg_get_functiondef(to_regproc('omd_lineage.' || v_routine)),
                '(\(v_offset\.next\)|\(coalesce\(v_offset\.quiet_start, v_offset\.last\)\))\.ts\M',
                '(SELECT p.first FROM (SELECT \1.*) AS p (first, second))',
                'g'
            );
        END IF;
    END LOOP;
END
$do$;
