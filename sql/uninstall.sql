-- This script removes OMD from this database in one transaction: its schemas with everything in
-- them, and those of its roles that no other database of the server uses. The tables that your
-- Modules loaded are yours and stay.

DO $do$
DECLARE
    v_role text;
    v_schema text;
BEGIN
    FOR v_schema IN
        SELECT n.nspname
        FROM pg_namespace AS n
        WHERE n.nspowner = to_regrole('omd_owner') AND n.nspname ~ '^omd(_|$)'
    LOOP
        EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', v_schema);
    END LOOP;
    FOREACH v_role IN ARRAY ARRAY[
        'omd_data_writer', 'omd_data_reader', 'omd_reader', 'omd_runner', 'omd_admin', 'omd_owner'
    ] LOOP
        BEGIN
            IF to_regrole(v_role) IS NOT NULL THEN
                EXECUTE format('DROP OWNED BY %I', v_role);
                EXECUTE format('DROP ROLE %I', v_role);
            END IF;
        EXCEPTION
            WHEN dependent_objects_still_exist THEN
                RAISE NOTICE 'role % is used by another database and stays', v_role;
        END;
    END LOOP;
END
$do$;
