-- The condition is that of ix_module_instance_open, so for most Modules, which have none, it costs
-- one look into an index. The planner inlines it into the query of the caller.

CREATE OR REPLACE FUNCTION omd.open_module_instances(
    p_module_id integer
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
        AND omd._is_open(
            o.execution_status_code, o.next_run_indicator, o.rolled_back_by_module_instance_id
        );
END;

COMMENT ON FUNCTION omd.open_module_instances IS
'For rooms: Returns the instances of the Module p_module_id that execute, ask for the next run to '
'be skipped, or wait for a rollback. Most Modules have none. Locks: none.';
REVOKE ALL ON FUNCTION omd.open_module_instances FROM PUBLIC;
