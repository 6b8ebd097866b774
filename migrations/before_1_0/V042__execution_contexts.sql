-- V042: what is executed in the database takes an execution context, as a begin does. Applied once.

-- Their parameters change: their files create them again. A call that executes one of them goes on,
-- under another name, until sql/cleanup/drop_retired.sql drops it.
DO $do$
DECLARE
    v_routine text;
BEGIN
    FOREACH v_routine IN ARRAY ARRAY[
        '_execute_batch', 'begin_in_database_run', 'run_batch', 'run_module'
    ] LOOP
        IF to_regproc('omd.' || v_routine) IS NOT NULL THEN
            EXECUTE format(
                'COMMENT ON ROUTINE omd.%1$I IS %3$L; ALTER ROUTINE omd.%1$I RENAME TO %2$I',
                v_routine, '_former_' || ltrim(v_routine, '_'), 'Retired.'
            );
        END IF;
    END LOOP;
END
$do$;
