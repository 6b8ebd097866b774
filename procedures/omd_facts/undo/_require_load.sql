-- What is to be undone is a load of the interface.

CREATE OR REPLACE FUNCTION omd_facts._require_load(
    p_interface_id integer,
    p_module_instance_id bigint
)
RETURNS omd_facts.load_log
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_load$
DECLARE
    v_load omd_facts.load_log;
BEGIN
    p_module_instance_id := omd.require_argument('p_module_instance_id', p_module_instance_id);
    SELECT l.* INTO v_load FROM omd_facts.load_log AS l
    WHERE l.module_instance_id = p_module_instance_id AND l.interface_id = p_interface_id;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM004', jsonb_build_object('module_instance_id', p_module_instance_id)
        );
    END IF;
    RETURN v_load;
END
$require_load$;

COMMENT ON FUNCTION omd_facts._require_load IS
'Returns the load of the interface p_interface_id by p_module_instance_id. Errors: OM004: it is no '
'load of the interface, OM005. Locks: none.';
