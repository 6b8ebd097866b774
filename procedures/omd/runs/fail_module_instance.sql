-- A run that is declared dead ends by the same failure event as any other, so that every failure
-- reads the same.

CREATE OR REPLACE FUNCTION omd.fail_module_instance(
    p_module_instance_id bigint,
    p_event_detail text,
    p_event_return_code_details text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fail_module_instance$
DECLARE
    v_batch_instance_id bigint;
BEGIN
    v_batch_instance_id := omd._close_module_instance(p_module_instance_id, 'F');
    PERFORM omd.write_event(
        p_module_instance_id,
        v_batch_instance_id,
        2,
        p_event_return_code_details,
        p_event_detail
    );
    PERFORM omd.count_failure(
        mi.module_id, p_module_instance_id, p_event_detail, p_event_return_code_details
    )
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id;
END
$fail_module_instance$;

COMMENT ON FUNCTION omd.fail_module_instance IS
'For rooms: Ends a Module Instance with status F and next_run_indicator R, writes one event and '
'counts the failure. It is accepted from E only. Errors: OM004, OM005, OM101. Locks: the instance '
'row; then the state of the Module.';
