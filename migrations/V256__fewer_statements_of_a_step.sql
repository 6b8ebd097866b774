-- V256: lineage: what a step asks is asked in fewer statements, by other routines. Applied once.

-- They stay for the calls that are on their way: dropped, they would be missed.
DO $do$
DECLARE
    v_routine text;
BEGIN
    FOREACH v_routine IN ARRAY ARRAY[
        'omd_lineage._why_not_whole(integer, oid, text, text, omd_lineage.row_position)',
        'omd_lineage._limits_of_block(integer)', 'omd_lineage._returned_block(bigint)'
    ] LOOP
        IF to_regprocedure(v_routine) IS NOT NULL THEN
            EXECUTE format('COMMENT ON FUNCTION %s IS %L', v_routine, 'Retired.');
        END IF;
    END LOOP;
END
$do$;
