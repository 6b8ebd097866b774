-- This is the only place where Module Instances are created. When several sessions begin the same
-- Module at once, each waits here until the one before it commits. It is one function, because
-- every run passes through it.

CREATE OR REPLACE FUNCTION omd._open_module_instance(
    p_module_code text,
    p_batch_instance_id bigint,
    p_execution_context jsonb,
    p_lease interval,
    p_is_session_bound boolean,
    p_is_evaluated boolean,
    OUT p_module_instance_id bigint,
    OUT p_processing_indicator text,
    OUT p_instance_array bigint[],
    OUT p_reason text,
    OUT p_platform_code text,
    OUT p_dead_module_id integer
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $open_module_instance$
DECLARE
    v_module_id integer;
    v_inactive_indicator text;
    v_decision record;
    v_is_sent boolean;
    v_is_unsettled boolean;
    v_is_unready boolean;
    v_context jsonb := p_execution_context;
BEGIN
    -- The test here saves most runs a call.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM omd.require_read_committed();
    END IF;
    SELECT
        m.module_id,
        m.inactive_indicator,
        m.platform_code,
        (SELECT TRUE FROM omd.undone_run AS u WHERE u.undone_upto IS NULL LIMIT 1),
        (SELECT r.is_unready FROM omd.unready_for_id() AS r),
        (SELECT d.module_id FROM omd.dead_run AS d WHERE d.module_id = m.module_id LIMIT 1)
    INTO
        v_module_id, v_inactive_indicator, p_platform_code, v_is_unsettled, v_is_unready,
        p_dead_module_id
    FROM omd.module AS m
    WHERE m.module_code = p_module_code
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM omd._require_module(p_module_code);
    END IF;
    IF v_is_unready THEN
        PERFORM omd.get_ready_for_id();
    END IF;
    -- The id is drawn below, so this run has not read what was undone before.
    IF v_is_unsettled THEN
        PERFORM omd._settle_undone();
    END IF;

    -- A client that can see which processes of its machine are gone lists the runs that it saw
    -- alive. It looks, before there is an instance, at what else it may prove dead.
    IF p_execution_context @> '{"seen_alive": []}' THEN
        v_context := p_execution_context - 'seen_alive';
    END IF;
    IF p_is_evaluated THEN
        v_decision := omd._decide_module(
            v_module_id, v_inactive_indicator, NULL, p_batch_instance_id
        );
        p_processing_indicator := v_decision.p_processing_indicator;
        p_instance_array := v_decision.p_instance_array;
        p_reason := v_decision.p_reason;
        IF p_reason = 'RUNNING' AND v_context <> p_execution_context THEN
            IF EXISTS (
                SELECT FROM omd._executing_module_instances(v_module_id, NULL) AS e (id)
                INNER JOIN omd.module_instance AS mi ON e.id = mi.module_instance_id
                WHERE NOT p_execution_context -> 'seen_alive' @> to_jsonb(e.id)
                    AND omd._may_be_proven_dead(
                        mi.execution_context,
                        mi.started_by,
                        v_context,
                        ARRAY['host', 'boot_id', 'pid_namespace']
                    )
            ) THEN
                p_module_instance_id := 0;
                RETURN;
            END IF;
        END IF;
    ELSIF p_batch_instance_id <> 0 THEN
        PERFORM omd._require_batch_instance(p_batch_instance_id);
    END IF;

    INSERT INTO omd.module_instance (
        module_id, batch_instance_id, start_datetime, lease_expires_at, execution_status_code,
        processing_indicator, next_run_indicator, is_session_bound, backend_pid, statement_start,
        started_by, rollback_instance_array, has_proceeded, execution_context
    )
    VALUES (
        v_module_id,
        coalesce(p_batch_instance_id, 0),
        clock_timestamp(),
        CASE
            WHEN p_lease IS NOT NULL THEN clock_timestamp() + omd._require_lease(p_lease)
            WHEN p_is_session_bound THEN clock_timestamp() + omd._lease_of_statement()
        END,
        'E',
        CASE WHEN p_is_evaluated AND p_reason IS NULL THEN p_processing_indicator ELSE 'A' END,
        'P',
        p_is_session_bound,
        CASE WHEN p_is_session_bound THEN pg_backend_pid() END,
        CASE WHEN p_is_session_bound THEN statement_timestamp() END,
        omd.editor(),
        coalesce(p_instance_array, '{}'),
        p_is_evaluated AND p_reason IS NULL,
        CASE
            WHEN p_execution_context IS NOT NULL
                OR current_setting('omd.execution_context', TRUE) <> ''
                THEN omd._require_context(v_context)
        END
    )
    -- There is one notification per evaluation: the end sends A and C below, and a rollback that
    -- follows in this transaction sends its P.
    RETURNING
        module_instance_id,
        CASE
            WHEN
                p_reason IS NULL
                AND (coalesce(p_processing_indicator, 'A') <> 'R' OR p_platform_code <> 'POSTGRES')
                THEN
                    omd._tell_instance('Module Instance', module_instance_id, start_datetime)
        END
    INTO p_module_instance_id, v_is_sent;

    -- Nothing of this Module with a lower id executes. The bound moves at one run in 128, drawn by a
    -- hash, since a row that changes at each run would be slow to read beside a sleeper itself.
    IF p_is_evaluated AND p_reason IS NULL AND hashint8(p_module_instance_id) & 127 = 0 THEN
        UPDATE omd.module AS m SET executing_from = p_module_instance_id
        WHERE m.module_id = v_module_id;
    END IF;

    IF v_is_sent IS NULL AND p_reason IS NOT NULL THEN
        PERFORM omd._close_module_instance(p_module_instance_id, p_processing_indicator, p_reason);
    END IF;
END
$open_module_instance$;

COMMENT ON FUNCTION omd._open_module_instance IS
'Inserts an executing instance of the Module p_module_code and, with p_is_evaluated, evaluates '
'it; the caller executes a pending rollback. The other parameters are those of begin_module. With '
'p_is_session_bound it lives as long as the statement that calls, and at most '
'omd._lease_of_statement(). A p_execution_context with seen_alive, a list of instances: where '
'another one executes whose death its client may prove, no instance is made, and its id is 0. '
'p_dead_module_id: the Module, if runs of it were declared dead before: _look_for_left_rows. '
'Errors: OM002, OM003, OM005, OM011, OM013, OM014, OM101. Locks: the Module row.';
GRANT EXECUTE ON FUNCTION omd._open_module_instance TO omd_runner;
