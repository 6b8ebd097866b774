-- This is the only place of the multiple-instance check of a Batch. The planner inlines it into the
-- query of the caller. The look begins at executing_from, as in omd._executing_module_instances.

CREATE OR REPLACE FUNCTION omd._executing_batch_instances(
    p_batch_id integer,
    p_before bigint
)
RETURNS SETOF bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT o.batch_instance_id
    FROM omd.batch_instance AS o
    WHERE
        o.batch_id = p_batch_id
        AND o.execution_status_code = 'E'
        AND o.batch_instance_id >= (
            SELECT b.executing_from FROM omd.batch AS b WHERE b.batch_id = p_batch_id
        )
        AND o.batch_instance_id < coalesce(p_before, 9223372036854775807);
END;

COMMENT ON FUNCTION omd._executing_batch_instances IS
'Returns the instances of the Batch p_batch_id that execute and have an id lower than p_before '
'(NULL: all). Locks: none.';
