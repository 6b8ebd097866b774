-- The function walks the index of a Module backwards. The bound keeps the walk short for a Module
-- with a very long history; older runs are assumed to have ended.

CREATE OR REPLACE FUNCTION omd.instances_since(
    p_module_id integer,
    p_since timestamptz
)
RETURNS TABLE (
    module_instance_id bigint
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT i.module_instance_id
    FROM (
        SELECT
            mi.module_instance_id,
            mi.end_datetime
        FROM omd.module_instance AS mi
        -- Not =, with which the planner could walk the primary key past other Modules.
        WHERE mi.module_id >= p_module_id AND mi.module_id <= p_module_id
        ORDER BY mi.module_id DESC, mi.module_instance_id DESC
        LIMIT 10000
    ) AS i
    WHERE coalesce(i.end_datetime, 'infinity') > p_since;
END;

COMMENT ON FUNCTION omd.instances_since IS
'For rooms: Returns the instances of the Module p_module_id, among its newest 10,000, that '
'execute or have ended after p_since. Locks: none.';
