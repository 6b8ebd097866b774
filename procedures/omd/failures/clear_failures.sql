-- Who changes what failed may have mended it, so rooms call this too.

CREATE OR REPLACE FUNCTION omd.clear_failures(
    p_module_id integer
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $clear_failures$
BEGIN
    DELETE FROM omd.module_state AS s WHERE s.module_id = p_module_id;
    RETURN FOUND;
END
$clear_failures$;

COMMENT ON FUNCTION omd.clear_failures IS
'For rooms: Forgets the failures of the Module p_module_id in a row, and its pause. Returns '
'whether there was any. Locks: the state of the Module.';
