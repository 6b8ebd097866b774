-- A Module must not run on in a Batch Instance that has ended: the next run of the Batch takes it
-- as undone and runs it again. The function never waits, because its caller holds a Batch Instance.
-- An instance that another session holds at this moment counts as dead from now on
-- (_give_up_module_instances), and the next begin ends it.

CREATE OR REPLACE FUNCTION omd._fail_members(
    p_batch_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fail_members$
DECLARE
    v_detail text := format(
        'the run was declared dead because Batch Instance %s has ended', p_batch_instance_id
    );
    v_id bigint;
BEGIN
    FOR v_id IN
        SELECT bi.batch_instance_id
        FROM omd.batch_instance AS bi
        WHERE bi.parent_batch_instance_id = p_batch_instance_id
            AND bi.parent_batch_instance_id <> 0
            AND bi.execution_status_code = 'E'
        ORDER BY bi.batch_instance_id
        FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        PERFORM omd._fail_batch_instance(v_id, v_detail, 'GIVEN UP');
    END LOOP;

    FOR v_id IN
        SELECT mi.module_instance_id
        FROM omd.module_instance AS mi
        WHERE mi.batch_instance_id = p_batch_instance_id
            AND mi.batch_instance_id <> 0
            AND mi.execution_status_code = 'E'
        ORDER BY mi.module_instance_id
        FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        PERFORM omd.fail_module_instance(v_id, v_detail, 'GIVEN UP');
    END LOOP;
END
$fail_members$;

COMMENT ON FUNCTION omd._fail_members IS
'Ends every Module Instance and child Batch Instance that still executes in the Batch Instance '
'p_batch_instance_id, with status F and one event each. Locks: those instances; locked ones are '
'left alone.';
