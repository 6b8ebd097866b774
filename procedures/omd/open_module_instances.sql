-- What an evaluation looks at, in one place: the condition is that of ix_module_instance_open, so
-- that the usual Module, which has none, costs one probe. Planned as part of the caller's query.

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
'For rooms: The instances of the Module p_module_id that execute, ask for a skip or wait for a '
'rollback. Usually none. Locks: none.';
REVOKE ALL ON FUNCTION omd.open_module_instances FROM PUBLIC;
