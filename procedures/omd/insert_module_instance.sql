-- Inserts a Module Instance that executes: the single place where Module Instances are made.
-- Errors: OM011. Locks: none; the caller holds the Module row.

CREATE OR REPLACE FUNCTION omd.insert_module_instance(
    p_module_id integer,
    p_batch_instance_id bigint,
    p_execution_context jsonb,
    p_lease interval,
    p_is_session_bound boolean,
    p_processing_indicator text,
    p_rollback_instance_array bigint[]
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $insert_module_instance$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_module_instance_id bigint;
BEGIN
    INSERT INTO omd.module_instance (
        module_id, batch_instance_id, start_datetime, lease_expires_at, execution_status_code,
        processing_indicator, next_run_indicator, is_session_bound, rollback_instance_array,
        execution_context
    )
    VALUES (
        p_module_id,
        coalesce(p_batch_instance_id, 0),
        v_now,
        v_now + omd.require_lease(p_lease),
        'E',
        p_processing_indicator,
        'P',
        p_is_session_bound,
        p_rollback_instance_array,
        p_execution_context
    )
    RETURNING module_instance_id INTO v_module_instance_id;
    RETURN v_module_instance_id;
END
$insert_module_instance$;

COMMENT ON FUNCTION omd.insert_module_instance IS
'Inserts an executing instance of the Module p_module_id and answers its id. p_lease: how long '
'it lives without a heartbeat, NULL for ever. p_is_session_bound: it lives as long as the '
'session that calls bind_session before it commits. p_processing_indicator: A when it is not '
'evaluated yet, else the answer, P or R, with the array to undo. Errors: OM011. Locks: none.';
REVOKE ALL ON FUNCTION omd.insert_module_instance FROM PUBLIC;
