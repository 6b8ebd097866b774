-- The windows of a Module are taken again in the order of their places, not of their runs.

CREATE OR REPLACE FUNCTION omd.next_window_return(
    p_module_id integer,
    OUT p_window_return_id bigint,
    OUT p_recall_id bigint,
    OUT p_start_value timestamptz,
    OUT p_start_id bigint,
    OUT p_end_value timestamptz,
    OUT p_end_id bigint,
    OUT p_source_code text,
    OUT p_former_instances bigint[]
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $next_window_return$
BEGIN
    SELECT
        w.window_return_id,
        w.recall_id,
        w.start_value,
        w.start_id,
        w.end_value,
        w.end_id,
        w.source_code,
        w.former_instances
    INTO
        p_window_return_id, p_recall_id, p_start_value, p_start_id, p_end_value, p_end_id,
        p_source_code, p_former_instances
    FROM omd.window_return AS w
    WHERE w.module_id = p_module_id AND w.ended_datetime IS NULL
    ORDER BY w.start_value NULLS FIRST, w.start_id NULLS FIRST, w.window_return_id
    LIMIT 1;
END
$next_window_return$;

COMMENT ON FUNCTION omd.next_window_return IS
'For rooms: Returns the load window that the Module p_module_id takes again next, the recall that '
'took it back and the runs whose it was; NULLs: there is none. Locks: none.';
