-- V217: routines that named rooms make place for those that read omd.room_hook. Applied once.

-- They stay for the calls that are on their way: dropped, they would be missed.
DO $do$
DECLARE
    v_routine text;
BEGIN
    FOREACH v_routine IN ARRAY ARRAY[
        'omd_decision.erase_records(jsonb, jsonb)',
        'omd_delivery.note_erasure(text, text[])',
        'omd_dispatch.erase_tasks(text, jsonb, jsonb, boolean)',
        'omd_lineage.erase_replaced(text, jsonb, jsonb, boolean)',
        'omd_provenance._effects_of_deliveries(bigint[], boolean)',
        'omd_provenance._take_back_deliveries(text, bigint[], bigint, bigint, text)'
    ] LOOP
        IF to_regprocedure(v_routine) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE %s IS %L', v_routine, 'Retired.');
        END IF;
    END LOOP;
    -- What has other parameters or columns now goes on under another name.
    FOREACH v_routine IN ARRAY ARRAY[
        'omd.recall_effects', 'omd_decision.recall_effects', 'omd_delivery.erase_keys',
        'omd_facts.erase_keys'
    ] LOOP
        IF EXISTS (
            SELECT FROM pg_proc AS p
            WHERE p.oid = to_regproc(v_routine)
                AND NOT p.proargnames && ARRAY['p_row_counts', 'tables']
        ) THEN
            EXECUTE format('COMMENT ON ROUTINE %s IS %L', v_routine, 'Retired.');
            EXECUTE format(
                'ALTER ROUTINE %s RENAME TO %I', v_routine, '_former_' || split_part(v_routine, '.', 2)
            );
        END IF;
    END LOOP;
END
$do$;
