-- V166: a begin knows whether its Module has runs that were declared dead. Applied once. A call
-- that executes one goes on under another name, until sql/cleanup/drop_retired.sql drops it.

DO $do$
DECLARE
    v_name text;
BEGIN
    FOREACH v_name IN ARRAY ARRAY['_open_module_instance', '_answer_module'] LOOP
        IF EXISTS (
            SELECT FROM pg_proc AS p
            WHERE p.oid = to_regproc(format('omd.%I', v_name))
                AND NOT 'p_dead_module_id' = ANY(p.proargnames)
        ) THEN
            EXECUTE format('COMMENT ON ROUTINE omd.%I IS %L', v_name, 'Retired.');
            EXECUTE format(
                'ALTER ROUTINE omd.%I RENAME TO %I', v_name, '_former_' || ltrim(v_name, '_')
            );
        END IF;
    END LOOP;
END
$do$;
