-- The Module stands for the agreement where work is looked for. It has no instances: its runs are
-- those of the Batch of the same code, whose Modules write the rows. So its target is only a name.

CREATE OR REPLACE FUNCTION omd_delivery._register_agreement_module(
    p_agreement_code text
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
    v_module_id integer;
BEGIN
    -- save_module would warn that no rollback is known, and there is nothing to roll back.
    PERFORM set_config('client_min_messages', 'error', TRUE);
    CALL omd.save_module(
        p_module_code => 'delivery.' || p_agreement_code,
        p_area_code => 'HELPER',
        p_table_code => 'delivery.' || p_agreement_code,
        p_platform_code => 'SPARK',
        p_module_description => format('Deliveries under the agreement %s', p_agreement_code),
        p_module_id => v_module_id
    );
    PERFORM set_config('client_min_messages', v_messages, TRUE);
    CALL omd.register_rollback(
        p_module_code => 'delivery.' || p_agreement_code,
        p_statement_template => 'SELECT 0',
        p_keeps_rows => TRUE
    );
    PERFORM omd.set_module_kind(v_module_id, 'DELIVERY', 'SPARK');
END
$register_agreement_module$;

COMMENT ON FUNCTION omd_delivery._register_agreement_module IS
'Registers the Module delivery.<agreement> of the agreement p_agreement_code. Locks: the Module.';
