-- V160: a destination is looked at with the rights of who sets its offset.
-- Applied once. A call of a routine that gets other parameters goes on under another name, until
-- sql/cleanup/drop_retired.sql drops it.

DO $do$
DECLARE
    v_name text;
BEGIN
    FOREACH v_name IN ARRAY ARRAY['_require_unplanned', '_save_topic'] LOOP
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
