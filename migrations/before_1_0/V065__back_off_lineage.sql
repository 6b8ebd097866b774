-- V065: back-off is a matter of Modules, so these routines get other parameters or are no longer
-- needed. Applied once. A call that executes one goes on, under another name, until
-- sql/cleanup/drop_retired.sql drops it.

DO $do$
DECLARE
    v_schema text;
    v_name text;
BEGIN
    FOR v_schema, v_name IN
        VALUES
        ('omd_lineage', 'register_topic'),
        ('omd_lineage', '_save_topic'),
        ('omd_lineage', '_register_topic_module'),
        ('omd_lineage', '_is_failed'),
        ('omd', 'failures_in_a_row')
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
