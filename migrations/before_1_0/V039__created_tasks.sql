-- V039: dispatch: the answer of the functions that create tasks is one value. Applied once. They
-- have other names than before; those of before are retired.

CREATE TYPE omd_dispatch.created_task AS (
    n integer,
    task_id bigint,
    key_hash bytea,
    key_text text,
    is_due boolean,
    is_new boolean
);
COMMENT ON TYPE omd_dispatch.created_task IS
'What has become of a task that was to be created: its place among those of the call, its number, '
'its key, whether it is due, and whether it is new.';

DO $do$
DECLARE
    v_routine regprocedure;
BEGIN
    FOR v_routine IN
        SELECT p.oid::regprocedure FROM pg_proc AS p
        WHERE p.pronamespace = 'omd_dispatch'::regnamespace
            AND starts_with(p.proname, '_create_task_data_')
    LOOP
        EXECUTE format('COMMENT ON ROUTINE %s IS %L', v_routine, 'Retired.');
    END LOOP;
END
$do$;
