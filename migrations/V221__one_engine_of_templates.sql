-- V221: omd._render makes all texts of templates. Applied once.

-- They stay for the calls that are on their way: dropped, they would be missed.
DO $do$
DECLARE
    v_routine text;
BEGIN
    FOREACH v_routine IN ARRAY ARRAY[
        'omd._fill_template(text, jsonb)', 'omd_facts._fill(text, jsonb)'
    ] LOOP
        IF to_regprocedure(v_routine) IS NOT NULL THEN
            EXECUTE format('COMMENT ON FUNCTION %s IS %L', v_routine, 'Retired.');
        END IF;
    END LOOP;
END
$do$;
