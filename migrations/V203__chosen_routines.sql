-- V203: the contract is chosen: some routines go, some have another name, and the view of the rows
-- that break a rule stands in omd_report. Applied once.

-- They stay for the calls that are on their way: dropped, they would be missed.
DO $do$
DECLARE
    v_routine text;
BEGIN
    FOREACH v_routine IN ARRAY ARRAY[
        'omd.batch_active_instance_control(bigint)', 'omd.module_active_instance_control(bigint)',
        'omd_lineage.retry(text)', 'omd_lineage._ready_near(text[])',
        'omd_dispatch._complete_and_claim(text, jsonb, integer, boolean, jsonb, jsonb)',
        'omd_dispatch.task_state(bigint)'
    ] LOOP
        IF to_regprocedure(v_routine) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE %s IS %L', v_routine, 'Retired.');
        END IF;
    END LOOP;
    -- A call that executes the former one goes on under another name.
    IF EXISTS (
        SELECT FROM pg_proc AS p
        WHERE p.oid = to_regproc('omd_dispatch.explain_task')
            AND NOT 'created_at' = ANY(p.proargnames)
    ) THEN
        COMMENT ON FUNCTION omd_dispatch.explain_task IS 'Retired.';
        ALTER FUNCTION omd_dispatch.explain_task RENAME TO _former_explain_task;
    END IF;
    -- What others have built on it stays.
    IF to_regclass('omd_delivery.quarantine') IS NOT NULL THEN
        ALTER VIEW omd_delivery.quarantine RENAME TO delivery_quarantine;
        ALTER VIEW omd_delivery.delivery_quarantine SET SCHEMA omd_report;
    END IF;
END
$do$;
