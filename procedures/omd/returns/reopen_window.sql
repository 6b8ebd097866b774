-- A window that was taken again may lie before others, and no later window brings its rows.

CREATE OR REPLACE FUNCTION omd.reopen_window(
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $reopen_window$
BEGIN
    UPDATE omd.window_return AS w SET
        ended_datetime = NULL,
        module_instance_id = NULL
    WHERE w.module_instance_id = p_module_instance_id AND w.ended_datetime IS NOT NULL;
END
$reopen_window$;

COMMENT ON FUNCTION omd.reopen_window IS
'For rooms: Lets the window that the Module Instance p_module_instance_id had taken again, and '
'which is undone, be taken again once more. Locks: the entry.';
