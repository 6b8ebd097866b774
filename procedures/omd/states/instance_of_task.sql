-- A run that a task has begun carries the task in its execution context, where an index finds it.
-- The runs below it carry it too, but they have a caller.

CREATE OR REPLACE FUNCTION omd.instance_of_task(
    p_task_id bigint,
    p_claim_token bigint
)
RETURNS TABLE (
    instance_type text,
    instance_id bigint,
    execution_status_code text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        i.instance_type,
        i.instance_id,
        i.execution_status_code
    FROM (
        SELECT
            'BATCH' AS instance_type,
            bi.batch_instance_id AS instance_id,
            bi.execution_status_code,
            bi.start_datetime
        FROM omd.batch_instance AS bi
        WHERE
            bi.execution_context ->> 'task_id' = p_task_id::text
            AND bi.execution_context ->> 'claim_token' = p_claim_token::text
            AND bi.parent_batch_instance_id = 0
        UNION ALL
        SELECT
            'MODULE' AS instance_type,
            mi.module_instance_id AS instance_id,
            mi.execution_status_code,
            mi.start_datetime
        FROM omd.module_instance AS mi
        WHERE
            mi.execution_context ->> 'task_id' = p_task_id::text
            AND mi.execution_context ->> 'claim_token' = p_claim_token::text
            AND mi.batch_instance_id = 0
    ) AS i
    ORDER BY i.start_datetime DESC, i.instance_id DESC
    LIMIT 1;
END;

COMMENT ON FUNCTION omd.instance_of_task IS
'For rooms: One row or none: the newest instance without a caller whose execution context has '
'p_task_id as task_id and p_claim_token as claim_token; instance_type is BATCH or MODULE. Locks: '
'none.';
