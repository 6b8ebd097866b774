-- A retry is another run, and the entry then names that one.

CREATE OR REPLACE FUNCTION omd.take_window(
    p_window_return_id bigint,
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $take_window$
BEGIN
    UPDATE omd.window_return AS w SET module_instance_id = p_module_instance_id
    WHERE w.window_return_id = p_window_return_id AND w.ended_datetime IS NULL;
    INSERT INTO omd.source_control (
        module_instance_id, module_id, start_value, start_id, end_value, end_id, source_code
    )
    SELECT
        p_module_instance_id, w.module_id, w.start_value, w.start_id, w.end_value, w.end_id,
        w.source_code
    FROM omd.window_return AS w
    WHERE w.window_return_id = p_window_return_id
        AND num_nonnulls(w.end_value, w.end_id) > 0;
END
$take_window$;

COMMENT ON FUNCTION omd.take_window IS
'For rooms: Lets the Module Instance p_module_instance_id take the window p_window_return_id '
'again, which becomes its load window. Locks: the entry.';
