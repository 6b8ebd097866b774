-- This is the only place where Batch Instances are created; create_batch_instance, begin_batch and
-- run_batch call it.

CREATE OR REPLACE FUNCTION omd._insert_batch_instance(
    p_batch_code text,
    p_parent_batch_instance_id bigint,
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
SET enable_seqscan = off
SET jit = off
AS $insert_batch_instance$
DECLARE
    v_batch_id integer;
    v_batch_instance_id bigint;
BEGIN
    PERFORM omd.require_read_committed();
    IF EXISTS (SELECT FROM omd.unready_for_id()) THEN
        PERFORM omd.get_ready_for_id();
    END IF;

    SELECT b.batch_id INTO v_batch_id
    FROM omd.batch AS b
    WHERE b.batch_code = p_batch_code
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        v_batch_id := omd._require_batch(p_batch_code);
    END IF;

    IF p_parent_batch_instance_id <> 0 THEN
        PERFORM omd._require_batch_instance(p_parent_batch_instance_id);
    END IF;

    INSERT INTO omd.batch_instance (
        batch_id, parent_batch_instance_id, start_datetime, lease_expires_at, execution_status_code,
        processing_indicator, next_run_indicator, is_session_bound, backend_pid, statement_start,
        started_by, has_proceeded, execution_context
    )
    VALUES (
        v_batch_id,
        coalesce(p_parent_batch_instance_id, 0),
        clock_timestamp(),
        clock_timestamp() + CASE
            WHEN p_is_session_bound THEN omd._lease_of_statement() ELSE omd._require_lease(p_lease)
        END,
        'E',
        'A',
        'P',
        p_is_session_bound,
        CASE WHEN p_is_session_bound THEN pg_backend_pid() END,
        CASE WHEN p_is_session_bound THEN statement_timestamp() END,
        omd.editor(),
        FALSE,
        CASE
            WHEN p_execution_context IS NOT NULL
                OR current_setting('omd.execution_context', TRUE) <> ''
                THEN omd._require_context(p_execution_context)
        END
    )
    RETURNING batch_instance_id INTO v_batch_instance_id;
    RETURN v_batch_instance_id;
END
$insert_batch_instance$;

COMMENT ON FUNCTION omd._insert_batch_instance IS
'Inserts a Batch Instance that executes and is not evaluated yet (E, A, P), and returns its id. '
'p_lease: how long it lives without a heartbeat, NULL for ever. With p_is_session_bound it lives '
'as long as the statement that calls, and at most omd._lease_of_statement(). Errors: OM001, OM003, '
'OM005, OM011, OM013, OM014. Locks: the Batch row.';
GRANT EXECUTE ON FUNCTION omd._insert_batch_instance TO omd_runner;
