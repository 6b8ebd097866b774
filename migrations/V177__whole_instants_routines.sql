-- V177: routines carry whether the newest instant is whole. Applied once. A call that executes one
-- goes on under another name, until sql/cleanup/drop_retired.sql drops it.

DO $do$
DECLARE
    v_name text;
BEGIN
    FOREACH v_name IN ARRAY ARRAY[
        'register_topic', '_block_limits', '_next_block', '_start_step', '_move_source',
        '_note_no_jobs', '_probe_source'
    ] LOOP
        IF to_regproc(format('omd_lineage.%I', v_name)) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE omd_lineage.%I IS %L', v_name, 'Retired.');
            EXECUTE format(
                'ALTER ROUTINE omd_lineage.%I RENAME TO %I',
                v_name, '_former_' || ltrim(v_name, '_')
            );
        END IF;
    END LOOP;
END
$do$;
