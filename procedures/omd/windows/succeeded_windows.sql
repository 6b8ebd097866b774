-- Windows of one Module are few beside the history of all, and this is asked only when something
-- that succeeded is to be undone. The index on the Module serves it.

CREATE OR REPLACE FUNCTION omd.succeeded_windows(
    p_module_id integer,
    p_start_value timestamptz,
    p_start_id bigint,
    p_end_value timestamptz,
    p_end_id bigint
)
RETURNS TABLE (
    module_instance_id bigint,
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
        sc.module_instance_id,
        sc.start_value,
        sc.start_id,
        sc.end_value,
        sc.end_id
    FROM omd.source_control AS sc
    INNER JOIN omd.module_instance AS mi ON sc.module_instance_id = mi.module_instance_id
    WHERE
        sc.module_id = p_module_id
        AND NOT sc.is_taken_back
        AND (sc.end_value, sc.end_id) > (p_start_value, p_start_id)
        AND (sc.start_value, sc.start_id) < (p_end_value, p_end_id)
        AND mi.execution_status_code = 'S'
        AND mi.rolled_back_by_module_instance_id IS NULL;
END;

COMMENT ON FUNCTION omd.succeeded_windows IS
'For rooms: Returns the load windows (start_value and start_id, end_value and end_id] of the '
'successful instances of the Module p_module_id that overlap (p_start_value and p_start_id, '
'p_end_value and p_end_id] and are not undone. Locks: none.';
