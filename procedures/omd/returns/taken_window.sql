-- A step asks by a function, since a view would stay locked as long as its transforms take.

CREATE OR REPLACE FUNCTION omd.taken_window(
    p_module_instance_id bigint,
    OUT p_start_value timestamptz,
    OUT p_start_id bigint,
    OUT p_end_value timestamptz,
    OUT p_end_id bigint
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $taken_window$
BEGIN
    SELECT w.start_value, w.start_id, w.end_value, w.end_id
    INTO p_start_value, p_start_id, p_end_value, p_end_id
    FROM omd.window_return AS w
    WHERE w.module_instance_id = p_module_instance_id AND w.ended_datetime IS NULL;
END
$taken_window$;

COMMENT ON FUNCTION omd.taken_window IS
'For rooms: Returns the window that the Module Instance p_module_instance_id takes again after a '
'recall; NULLs: it takes none. Locks: none.';
