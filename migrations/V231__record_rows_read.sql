-- V231: a write records how many rows it has read. A call that executes a former routine goes on
-- under another name, until sql/cleanup/drop_retired.sql drops it. Applied once.

DO $do$
DECLARE
    v_routine regprocedure;
BEGIN
    FOR v_routine IN
        SELECT p.oid::regprocedure
        FROM pg_proc AS p
        WHERE p.oid IN (to_regproc('omd.record_write'), to_regproc('omd.recorded_write'))
            AND NOT 'p_read_count' = ANY(p.proargnames)
    LOOP
        EXECUTE format('COMMENT ON ROUTINE %s IS %L', v_routine, 'Retired.');
        EXECUTE format(
            'ALTER ROUTINE %s RENAME TO %I',
            v_routine,
            '_former_' || (SELECT p.proname FROM pg_proc AS p WHERE p.oid = v_routine)
        );
    END LOOP;
END
$do$;
