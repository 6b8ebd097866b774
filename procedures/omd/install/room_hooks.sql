-- A room reads no table of another one. The order is a contract: who is called first locks first.
-- ROWS: the planner would expect a thousand.

CREATE OR REPLACE FUNCTION omd.room_hooks(
    p_hook text,
    p_for_code text DEFAULT NULL
)
RETURNS TABLE (room text, for_code text, routine text)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 5
SET search_path = pg_catalog, pg_temp
AS $room_hooks$
BEGIN
    RETURN QUERY
    SELECT h.room, h.for_code, h.routine
    FROM omd.room_hook AS h
    WHERE h.hook = p_hook AND coalesce(h.for_code = p_for_code, TRUE)
    ORDER BY h.position, h.room, h.for_code;
END
$room_hooks$;

COMMENT ON FUNCTION omd.room_hooks IS
'For rooms: Returns the routines that rooms have entered for the hook p_hook, in the order in '
'which they are called. p_for_code: only those for it; NULL: all. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.room_hooks TO omd_admin;
