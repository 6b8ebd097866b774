-- An undo waits for a minute; the rest is for its commit.

CREATE OR REPLACE FUNCTION omd_facts._close_position(
    p_interface_code text,
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $close_position$
DECLARE
    v_interface omd_facts.interface := omd_facts._require_interface(p_interface_code);
BEGIN
    IF (
        omd_facts._require_load(v_interface.interface_id, p_module_instance_id)
    ).undone_by IS NULL THEN
        PERFORM omd.close_source('facts.' || p_interface_code, interval '90 seconds');
    END IF;
END
$close_position$;

COMMENT ON FUNCTION omd_facts._close_position IS
'Lets no run begin to read the interface p_interface_code while its load p_module_instance_id is '
'undone. Errors: OM004, OM005, OM013, OM031, OM251. Locks: the position, beside readers.';
GRANT EXECUTE ON FUNCTION omd_facts._close_position TO omd_admin;
