-- Who performed the runs of a task is gone, so their leases say nothing any more. A worker that
-- lives nevertheless is stopped by the status: a run ends well only while it executes. Nobody is
-- waited for: another session may hold an instance, and be stopped itself.

CREATE OR REPLACE FUNCTION omd.give_up_runs_of_task(
    p_task_id bigint,
    p_claim_token bigint,
    p_detail text
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '100ms'
AS $give_up_runs_of_task$
DECLARE
    v_detail CONSTANT text := 'the run was declared dead because ' || p_detail;
    v_id bigint;
BEGIN
    FOR v_id IN
        SELECT bi.batch_instance_id
        FROM omd.batch_instance AS bi
        WHERE bi.execution_context ->> 'task_id' = p_task_id::text
            AND bi.execution_context ->> 'claim_token' = p_claim_token::text
            AND bi.parent_batch_instance_id = 0
            AND bi.execution_status_code = 'E'
        ORDER BY bi.batch_instance_id
        FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        PERFORM omd._fail_batch_instance(v_id, v_detail, 'WORKER LOST');
    END LOOP;
    FOR v_id IN
        SELECT mi.module_instance_id
        FROM omd.module_instance AS mi
        WHERE mi.execution_context ->> 'task_id' = p_task_id::text
            AND mi.execution_context ->> 'claim_token' = p_claim_token::text
            AND mi.batch_instance_id = 0
            AND mi.execution_status_code = 'E'
        ORDER BY mi.module_instance_id
        FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        PERFORM omd.fail_module_instance(v_id, v_detail, 'WORKER LOST');
    END LOOP;
    RETURN NOT EXISTS (
        SELECT FROM omd.instance_of_task(p_task_id, p_claim_token) AS i
        WHERE i.execution_status_code = 'E'
    );
EXCEPTION
    WHEN lock_not_available OR deadlock_detected THEN
        RETURN FALSE;
END
$give_up_runs_of_task$;

COMMENT ON FUNCTION omd.give_up_runs_of_task IS
'For rooms: Declares the instances dead that the task p_task_id has begun under the claim '
'p_claim_token and that execute, whatever their lease; p_detail says why, and the event is WORKER '
'LOST. Returns whether none executes any more; FALSE: another session holds one, or its Module. '
'Locks: the instances, then the state of the Modules.';
