-- An undo that did not come to pass lets readers begin again.

CREATE OR REPLACE FUNCTION omd_facts._open_position(
    p_interface_code text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $open_position$
BEGIN
    PERFORM omd.close_source('facts.' || p_interface_code, interval '0');
END
$open_position$;

COMMENT ON FUNCTION omd_facts._open_position IS
'Lets runs begin to read the interface p_interface_code again. Locks: the position, beside '
'readers.';
GRANT EXECUTE ON FUNCTION omd_facts._open_position TO omd_admin;
