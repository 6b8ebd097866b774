-- V211: delivery: its runs answer the execution status. Applied once.

-- A call that executes a former one goes on under another name.
DO $do$
DECLARE
    v_routine regprocedure;
BEGIN
    FOR v_routine IN
        SELECT p.oid::regprocedure
        FROM pg_proc AS p
        WHERE p.oid IN (
            to_regproc('omd_delivery.begin_delivery'), to_regproc('omd_delivery.stage_verdict'),
            to_regproc('omd_delivery.apply_delta')
        )
            AND NOT 'p_execution_status_code' = ANY(p.proargnames)
    LOOP
        EXECUTE format('COMMENT ON PROCEDURE %s IS %L', v_routine, 'Retired.');
        EXECUTE format(
            'ALTER PROCEDURE %s RENAME TO %I',
            v_routine,
            '_former_' || (SELECT p.proname FROM pg_proc AS p WHERE p.oid = v_routine)
        );
    END LOOP;
END
$do$;
