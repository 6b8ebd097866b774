-- This is the only place of the multiple-instance check of a Module. The planner inlines it into
-- the query of the caller.
--
-- While any transaction of the database sleeps, vacuum may remove no entry of a run that has ended
-- since, and each look at the index passes over them again. So the look begins at executing_from.

CREATE OR REPLACE FUNCTION omd._executing_module_instances(
    p_module_id integer,
    p_before bigint
)
RETURNS SETOF bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT o.module_instance_id
    FROM omd.module_instance AS o
    WHERE
        o.module_id = p_module_id
        AND o.execution_status_code = 'E'
        AND o.module_instance_id >= (
            SELECT m.executing_from FROM omd.module AS m WHERE m.module_id = p_module_id
        )
        AND o.module_instance_id < coalesce(p_before, 9223372036854775807);
END;

COMMENT ON FUNCTION omd._executing_module_instances IS
'Returns the instances of the Module p_module_id that execute, in whatever Batch, and have an id '
'lower than p_before (NULL: all). Locks: none.';
