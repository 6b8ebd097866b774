-- V055: routines that get other parameters, or another room. Applied once. Their files create them
-- again. A call that executes one goes on, under another name, until sql/cleanup/drop_retired.sql
-- drops it.

DO $do$
DECLARE
    v_schema text;
    v_name text;
BEGIN
    FOR v_schema, v_name IN
        VALUES
        ('omd_lineage', '_oldest_writer'),
        ('omd_lineage', 'restate'),
        ('omd_lineage', '_queue_restatement'),
        ('omd_facts', 'undo')
    LOOP
        IF to_regproc(format('%I.%I', v_schema, v_name)) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE %I.%I IS %L', v_schema, v_name, 'Retired.');
            EXECUTE format(
                'ALTER ROUTINE %I.%I RENAME TO %I',
                v_schema, v_name, '_former_' || ltrim(v_name, '_')
            );
        END IF;
    END LOOP;
END
$do$;
