-- Creates and evaluates a Module Instance, without executing a rollback: begin_module and
-- run_module call it. Errors: OM002, OM003, OM005, OM011, OM014. Locks: the Module row.

CREATE OR REPLACE FUNCTION omd.open_module_instance(
    p_module_code text,
    p_batch_instance_id bigint,
    p_execution_context jsonb,
    p_lease interval,
    p_is_session_bound boolean,
    OUT p_module_instance_id bigint,
    OUT p_processing_indicator text,
    OUT p_instance_array bigint[],
    OUT p_reason text,
    OUT p_platform_code text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $open_module_instance$
DECLARE
    v_module omd.module := omd.lock_module(p_module_code);
    v_decision record;
BEGIN
    v_decision := omd.decide_module(v_module, NULL, p_batch_instance_id);
    p_processing_indicator := v_decision.p_processing_indicator;
    p_instance_array := v_decision.p_instance_array;
    p_reason := v_decision.p_reason;
    p_platform_code := v_module.platform_code;
    p_module_instance_id := omd.insert_module_instance(
        v_module.module_id,
        p_batch_instance_id,
        p_execution_context,
        p_lease,
        p_is_session_bound,
        CASE WHEN p_reason IS NULL THEN p_processing_indicator ELSE 'A' END,
        p_instance_array
    );
    IF p_reason IS NOT NULL THEN
        PERFORM omd.close_module_instance(p_module_instance_id, p_processing_indicator, p_reason);
    END IF;
END
$open_module_instance$;

COMMENT ON FUNCTION omd.open_module_instance IS
'Creates and evaluates an instance of the Module p_module_code; a rollback that is due is left '
'to the caller. Parameters as begin_module; p_is_session_bound: see insert_module_instance. '
'Errors: OM002, OM003, OM005, OM011, OM014. Locks: the Module row.';
REVOKE ALL ON FUNCTION omd.open_module_instance FROM PUBLIC;
