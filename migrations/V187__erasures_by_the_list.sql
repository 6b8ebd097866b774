-- V187: process control masks texts in the tables of all rooms, by the list omd.text_column; the
-- routines of the rooms have no use any more. Applied once.

-- They stay for the calls that are on their way: dropped, they would be missed.
DO $do$
DECLARE
    v_routine text;
BEGIN
    FOREACH v_routine IN ARRAY ARRAY[
        'omd_decision.erase_texts(text[])', 'omd_delivery.erase_texts(text[])',
        'omd_dispatch.erase_texts(text[])', 'omd_lineage.erase_texts(text[])',
        'omd_provenance._mask_texts(text[])'
    ] LOOP
        IF to_regprocedure(v_routine) IS NOT NULL THEN
            EXECUTE format('COMMENT ON FUNCTION %s IS %L', v_routine, 'Retired.');
        END IF;
    END LOOP;
END
$do$;
