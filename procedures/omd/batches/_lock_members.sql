-- A routine that ends a Batch Instance first locks the members that will fail with it, in the lock
-- order of process control (omd._close_batch_instance).

CREATE OR REPLACE FUNCTION omd._lock_members(
    p_batch_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $lock_members$
DECLARE
    v_children bigint[];
BEGIN
    WITH RECURSIVE child (batch_instance_id) AS (
        SELECT bi.batch_instance_id
        FROM omd.batch_instance AS bi
        WHERE bi.parent_batch_instance_id = p_batch_instance_id
            AND bi.parent_batch_instance_id <> 0
            AND bi.execution_status_code = 'E'
        UNION
        SELECT bi.batch_instance_id
        FROM child AS c
        INNER JOIN omd.batch_instance AS bi ON c.batch_instance_id = bi.parent_batch_instance_id
        WHERE bi.parent_batch_instance_id <> 0 AND bi.execution_status_code = 'E'
    )

    SELECT coalesce(array_agg(c.batch_instance_id), '{}') INTO v_children FROM child AS c;

    PERFORM FROM omd.module_instance AS mi
    WHERE mi.batch_instance_id = ANY(p_batch_instance_id || v_children)
        AND mi.batch_instance_id <> 0
        AND mi.execution_status_code = 'E'
    ORDER BY mi.module_instance_id
    FOR NO KEY UPDATE;
    -- A child has a higher id than its parent.
    PERFORM FROM omd.batch_instance AS bi
    WHERE bi.batch_instance_id = ANY(v_children) AND bi.execution_status_code = 'E'
    ORDER BY bi.batch_instance_id DESC
    FOR NO KEY UPDATE;
END
$lock_members$;

COMMENT ON FUNCTION omd._lock_members IS
'Locks what executes in the Batch Instance p_batch_instance_id and in its children. Locks: those '
'Module Instances in id order, then those Batch Instances, each child before its parent.';
