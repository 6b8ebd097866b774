-- Inserts a Module Instance that executes and is not evaluated yet, after giving up dead ones of
-- the Module. The single place where Module Instances are made; create_module_instance and
-- begin_module call it. Errors: OM002, OM003, OM005, OM011. Locks: the Module row, until the
-- transaction ends.

CREATE OR REPLACE FUNCTION omd.insert_module_instance(
    p_module_code text,
    p_batch_instance_id bigint,
    p_execution_context jsonb,
    p_lease interval,
    p_is_session_bound boolean
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $insert_module_instance$
DECLARE
    v_module_id integer;
    v_module_instance_id bigint;
BEGIN
    PERFORM omd.require_lease(p_lease);

    SELECT m.module_id INTO v_module_id
    FROM omd.module AS m
    WHERE m.module_code = p_module_code
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        v_module_id := omd.require_module(p_module_code);
    END IF;

    IF p_batch_instance_id <> 0 THEN
        PERFORM FROM omd.batch_instance AS bi WHERE bi.batch_instance_id = p_batch_instance_id;
        IF NOT FOUND THEN
            PERFORM omd.raise_error('OM003', jsonb_build_object('batch_instance_id', p_batch_instance_id));
        END IF;
    END IF;

    PERFORM omd.give_up_module_instances(v_module_id);

    INSERT INTO omd.module_instance (
        module_id, batch_instance_id, start_datetime, lease_expires_at, execution_status_code,
        processing_indicator, next_run_indicator, is_session_bound, execution_context
    )
    VALUES (
        v_module_id,
        coalesce(p_batch_instance_id, 0),
        clock_timestamp(),
        clock_timestamp() + p_lease,
        'E',
        'A',
        'P',
        p_is_session_bound,
        p_execution_context
    )
    RETURNING module_instance_id INTO v_module_instance_id;
    RETURN v_module_instance_id;
END
$insert_module_instance$;

COMMENT ON FUNCTION omd.insert_module_instance IS
'Inserts a Module Instance (E, A, P) and answers its id. p_lease: how long it lives without a '
'heartbeat, NULL for ever. p_is_session_bound: it lives as long as the session that calls '
'bind_session before it commits. Errors: OM002, OM003, OM005, OM011. Locks: the Module row.';
REVOKE ALL ON FUNCTION omd.insert_module_instance FROM PUBLIC;
