-- One function serves everything that rooms ask about one instance; columns that a query does not
-- name are not read.

CREATE OR REPLACE FUNCTION omd.instance_state(
    p_module_instance_id bigint
)
RETURNS TABLE (
    module_id integer,
    execution_status_code text,
    next_run_indicator text,
    start_value timestamptz,
    start_id bigint,
    end_value timestamptz,
    end_id bigint
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        mi.module_id,
        mi.execution_status_code,
        mi.next_run_indicator,
        sc.start_value,
        sc.start_id,
        sc.end_value,
        sc.end_id
    FROM omd.module_instance AS mi
    LEFT JOIN omd.source_control AS sc ON mi.module_instance_id = sc.module_instance_id
    WHERE mi.module_instance_id = p_module_instance_id;
END;

COMMENT ON FUNCTION omd.instance_state IS
'For rooms: One row with the Module, the codes and the load window (start_value and start_id, '
'end_value and end_id] of the Module Instance p_module_instance_id; the window is NULL when it '
'has none. There is no row when there is no such instance. Locks: none.';
