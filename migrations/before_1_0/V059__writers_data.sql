-- V059: what a writer of facts is made of has other routines. Applied once. A call that executes
-- one goes on, under another name, until sql/cleanup/drop_retired.sql drops it.

DO $do$
DECLARE
    v_name text;
BEGIN
    FOREACH v_name IN ARRAY ARRAY['_writer_blocks', '_children_sql'] LOOP
        IF to_regproc(format('omd_facts.%I', v_name)) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE omd_facts.%I IS %L', v_name, 'Retired.');
            EXECUTE format(
                'ALTER ROUTINE omd_facts.%I RENAME TO %I', v_name, '_former' || v_name
            );
        END IF;
    END LOOP;
END
$do$;
