-- The entry stays: it says that the window of this run may lie before those of earlier runs.

CREATE OR REPLACE FUNCTION omd.end_window(
    p_module_instance_id bigint
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_window$
BEGIN
    UPDATE omd.window_return AS w SET ended_datetime = clock_timestamp()
    WHERE w.module_instance_id = p_module_instance_id AND w.ended_datetime IS NULL;
    RETURN FOUND;
END
$end_window$;

COMMENT ON FUNCTION omd.end_window IS
'For rooms: Ends the entry of the window that the Module Instance p_module_instance_id has taken '
'again, in the transaction of its success; returns whether there is one. Locks: the entry.';
