-- Each agreement of the facts has a Module of its own, so that agreements of one interface run side
-- by side. What such a Module writes is not its to take back. The room delivery calls this for each
-- agreement; before the interface is deployed there is nothing to name as the target, so deploy
-- calls it again.

CREATE OR REPLACE FUNCTION omd_facts.equip_agreement(
    p_interface_id integer,
    p_agreement_code text,
    p_layer_code text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $equip_agreement$
DECLARE
    v_messages CONSTANT text := current_setting('client_min_messages');
    v_code CONSTANT text := lower(p_layer_code) || '.' || p_agreement_code;
    v_table text;
    v_module_id integer;
BEGIN
    SELECT format('%I.%I', 'cfl_' || i.interface_code, e.anchor_table) INTO v_table
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    WHERE e.interface_id = p_interface_id AND p_layer_code IN ('GDAL', 'EXPORT')
    ORDER BY e.load_order
    LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- save_module would warn that no rollback is registered; the kind, which comes below, has one.
    PERFORM set_config('client_min_messages', 'error', TRUE);
    CALL omd.save_module(
        p_module_code => v_code,
        p_area_code => 'INT',
        p_table_code => v_table,
        p_platform_code => 'POSTGRES',
        p_insert_instance_column => 'acm_audit_id',
        p_module_description => format(
            '%s under the agreement %s',
            CASE p_layer_code WHEN 'GDAL' THEN 'Rows written' ELSE 'Exports' END,
            p_agreement_code
        ),
        p_module_id => v_module_id
    );
    PERFORM set_config('client_min_messages', v_messages, TRUE);
    IF p_layer_code = 'GDAL' THEN
        PERFORM omd.set_module_kind(v_module_id, 'PART');
    ELSE
        PERFORM omd.set_module_kind(v_module_id, 'EXPORT', 'SPARK');
    END IF;
END
$equip_agreement$;

COMMENT ON FUNCTION omd_facts.equip_agreement IS
'For rooms: Registers the Module gdal.<agreement> or export.<agreement> of the agreement '
'p_agreement_code with the layer p_layer_code, about the interface p_interface_id, whose rollback '
'does nothing. It does nothing for another layer, and while the interface is not deployed. Locks: '
'the Module.';
