-- Each agreement of the facts has a Module of its own, so that agreements of one interface run side
-- by side. What such a Module writes is not its to take back.

CREATE OR REPLACE FUNCTION omd_facts._register_agreement_module(
    p_interface_id integer,
    p_module_code text,
    p_module_description text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_agreement_module$
DECLARE
    v_messages CONSTANT text := current_setting('client_min_messages');
    v_table text;
    v_module_id integer;
BEGIN
    SELECT format('%I.%I', 'cfl_' || i.interface_code, e.anchor_table) INTO v_table
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    WHERE e.interface_id = p_interface_id
    ORDER BY e.load_order
    LIMIT 1;
    -- register_module would warn that no rollback is registered, which happens only below.
    PERFORM set_config('client_min_messages', 'error', TRUE);
    CALL omd.register_module(
        p_module_code => p_module_code,
        p_area_code => 'INT',
        p_table_code => v_table,
        p_platform_code => 'POSTGRES',
        p_insert_instance_column => 'acm_audit_id',
        p_module_description => p_module_description,
        p_module_id => v_module_id
    );
    PERFORM set_config('client_min_messages', v_messages, TRUE);
    CALL omd.register_rollback(
        p_module_code => p_module_code, p_statement_template => 'SELECT 0', p_keeps_rows => TRUE
    );
END
$register_agreement_module$;

COMMENT ON FUNCTION omd_facts._register_agreement_module IS
'Registers the Module p_module_code of an agreement of the interface p_interface_id, whose '
'rollback does nothing. Locks: the Module.';
REVOKE ALL ON FUNCTION omd_facts._register_agreement_module FROM PUBLIC;
