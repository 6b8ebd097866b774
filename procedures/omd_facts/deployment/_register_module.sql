-- The target of a load is all tables of the interface; the one that is named is only an example.

CREATE OR REPLACE FUNCTION omd_facts._register_module(
    p_interface_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_module$
DECLARE
    v_messages CONSTANT text := current_setting('client_min_messages');
    v_interface omd_facts.interface;
    v_code text;
    v_table text;
    v_module_id integer;
BEGIN
    SELECT i.* INTO v_interface FROM omd_facts.interface AS i
    WHERE i.interface_id = p_interface_id AND i.module_id IS NULL;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT format('%I.%I', 'cfl_' || v_interface.interface_code, e.anchor_table) INTO v_table
    FROM omd_facts.entity AS e
    WHERE e.interface_id = p_interface_id
    ORDER BY e.load_order
    LIMIT 1;
    v_code := 'facts.' || v_interface.interface_code;
    -- save_module would warn that no rollback is registered; the kind, which comes below, has one.
    PERFORM set_config('client_min_messages', 'error', TRUE);
    CALL omd.save_module(
        p_module_code => v_code,
        p_area_code => 'INT',
        p_table_code => v_table,
        p_platform_code => 'POSTGRES',
        p_insert_instance_column => 'acm_audit_id',
        p_module_description => format(
            'Loads of the interface %s into the facts', v_interface.interface_code
        ),
        p_module_id => v_module_id
    );
    PERFORM set_config('client_min_messages', v_messages, TRUE);
    PERFORM omd.set_module_kind(v_module_id, 'FACTS', 'POSTGRES');
    UPDATE omd_facts.interface AS i SET module_id = v_module_id
    WHERE i.interface_id = p_interface_id;
END
$register_module$;

COMMENT ON FUNCTION omd_facts._register_module IS
'Registers the Module facts.<interface> of the interface p_interface_id with its rollback, once. '
'Locks: the Module, the interface.';
