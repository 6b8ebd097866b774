-- V245: what these routines did stands where they were called. Applied once.

-- They stay for the calls that are on their way: dropped, they would be missed.
DO $do$
DECLARE
    v_routine text;
BEGIN
    FOREACH v_routine IN ARRAY ARRAY[
        'omd._move_run_source(integer, bigint, timestamptz, bigint[])',
        'omd_delivery._follow_model(integer)',
        'omd_delivery._raise_delta(bigint, text, text)',
        'omd_facts._raise_not_held(text, text)',
        'omd_provenance._raise_blocked(bigint, jsonb)'
    ] LOOP
        IF to_regprocedure(v_routine) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE %s IS %L', v_routine, 'Retired.');
        END IF;
    END LOOP;
END
$do$;
