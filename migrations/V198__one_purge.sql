-- V198: omd.purge calls the steps of all rooms; the purges of the rooms have no use any more. And
-- register_backend takes the number of slots. Applied once.

-- They stay for the calls that are on their way: dropped, they would be missed.
DO $do$
DECLARE
    v_routine text;
BEGIN
    FOREACH v_routine IN ARRAY ARRAY[
        'omd.purge_history(interval, integer, bigint, bigint, bigint)', 'omd._before_purge()',
        'omd._record_purge(timestamptz, bigint, bigint, bigint)',
        'omd_decision.purge_log(interval, bigint)',
        'omd_delivery.purge_deliveries(interval, bigint)',
        'omd_delivery._purge_delivery(timestamptz, timestamptz, bigint, bigint)',
        'omd_event.purge_events(bigint)', 'omd_event._purge_step()', 'omd_event._log_purge(bigint)',
        'omd_facts.purge_changes(interval, bigint)', 'omd_lineage.purge_log(interval, bigint)'
    ] LOOP
        IF to_regprocedure(v_routine) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE %s IS %L', v_routine, 'Retired.');
        END IF;
    END LOOP;
    -- A call that executes the former one goes on under another name.
    IF EXISTS (
        SELECT FROM pg_proc AS p
        WHERE p.oid = to_regproc('omd_dispatch.register_backend')
            AND NOT 'p_slots' = ANY(p.proargnames)
    ) THEN
        COMMENT ON PROCEDURE omd_dispatch.register_backend IS 'Retired.';
        ALTER PROCEDURE omd_dispatch.register_backend RENAME TO _former_register_backend;
    END IF;
END
$do$;
