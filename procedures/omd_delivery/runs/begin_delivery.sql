-- The lock of the interface is taken if it is free and never waited for: of many begins one runs,
-- and the others learn that. The rollback of what a former run wrote is that of process control, so
-- the procedure executes it with the rights of the owner of the work tables.

CREATE OR REPLACE PROCEDURE omd_delivery.begin_delivery(
    p_delivery_id bigint,
    p_lease interval DEFAULT NULL,
    p_execution_context jsonb DEFAULT NULL,
    INOUT p_outcome text DEFAULT NULL,
    INOUT p_batch_instance_id bigint DEFAULT NULL,
    INOUT p_attempt integer DEFAULT NULL,
    INOUT p_instances jsonb DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL,
    INOUT p_execution_status_code text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $begin_delivery$
DECLARE
    v_delivery omd_delivery.delivery;
    v_is_locked boolean;
    v_running_id bigint;
    v_queued record;
    v_overtaken record;
    v_retired text;
    v_agreement record;
    v_entity record;
    v_indicator text;
    v_module_instance_id bigint;
BEGIN
    PERFORM omd.require_read_committed();
    v_delivery := omd_delivery._require_delivery(p_delivery_id);
    PERFORM FROM omd_delivery.interface AS i
    WHERE i.interface_id = v_delivery.interface_id
    FOR NO KEY UPDATE SKIP LOCKED;
    v_is_locked := NOT FOUND;
    p_execution_status_code := 'A';  -- it waits, where nothing else is said below
    -- This is a statement of its own, so that it sees what the former holder of the lock has
    -- committed.
    v_delivery := omd_delivery._require_delivery(p_delivery_id);
    PERFORM omd_delivery._require_event(v_delivery, 'begin_delivery', 'begin');
    IF v_is_locked THEN
        IF v_delivery.is_running AND omd_delivery._run_lives(p_delivery_id) THEN
            v_running_id := p_delivery_id;
        ELSE
            p_outcome := 'WAIT';
            p_detail := 'another session works on the interface';
            RETURN;
        END IF;
    ELSE
        v_running_id := omd_delivery._running_delivery(v_delivery.interface_id);
    END IF;
    IF v_running_id = p_delivery_id THEN
        p_outcome := 'RUNNING';
        p_batch_instance_id := v_delivery.batch_instance_id;
        p_attempt := v_delivery.attempt;
        p_detail := format('run %s of the delivery executes', v_delivery.attempt);
        RETURN;
    ELSIF v_running_id IS NOT NULL THEN
        p_outcome := 'WAIT';
        p_detail := format('delivery %s of the interface runs', v_running_id);
        RETURN;
    END IF;
    PERFORM FROM omd_delivery.delivery AS d
    WHERE d.delivery_id = p_delivery_id
    FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        p_outcome := 'WAIT';
        p_detail := 'a transaction that writes rows of it has not ended';
        RETURN;
    END IF;
    -- What a PHYSICAL delivery removes, nobody must bring back, and it must not be missed below.
    SELECT q.delivery_id, q.delete_type INTO v_queued
    FROM omd_delivery.delta_queue AS q
    WHERE q.interface_id = v_delivery.interface_id
        AND q.queue_status <> 'PERSISTED'
        AND (q.delete_type = 'PHYSICAL' OR v_delivery.delete_type = 'PHYSICAL')
    ORDER BY q.queue_id
    LIMIT 1;
    IF FOUND THEN
        p_outcome := 'WAIT';
        p_detail := format(
            'delivery %s is not persisted yet, and %s deletes physically',
            v_queued.delivery_id,
            CASE v_queued.delete_type WHEN 'PHYSICAL' THEN 'it' ELSE 'this one' END
        );
        RETURN;
    END IF;
    p_detail := omd_delivery._return_before(
        v_delivery.interface_id, v_delivery.snapshot_datetime
    );
    IF p_detail IS NOT NULL THEN
        p_outcome := 'WAIT';
        RETURN;
    END IF;
    SELECT o.* INTO v_overtaken FROM omd_delivery._overtaken(p_delivery_id) AS o;
    IF FOUND THEN
        p_outcome := 'REFUSED';
        p_execution_status_code := 'F';
        p_detail := format(
            'entity %s was delivered at %s', v_overtaken.entity_code, v_overtaken.high_water_mark
        );
        UPDATE omd_delivery.delivery AS d SET
            verdict = 'REJECTED',
            reasons = jsonb_build_array(
                jsonb_build_object(
                    'entity', v_overtaken.entity_code,
                    'high_water_mark', v_overtaken.high_water_mark
                )
            )
        WHERE d.delivery_id = p_delivery_id;
        PERFORM omd_delivery._move(p_delivery_id, 'REFUSED', 'begin_delivery', p_detail);
        RETURN;
    END IF;
    SELECT e.entity_code INTO v_retired
    FROM omd_delivery.delivery_entity AS de
    INNER JOIN omd_delivery.entity AS e USING (entity_id)
    WHERE de.delivery_id = p_delivery_id AND e.is_retired
    ORDER BY e.ordinal
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd_delivery._raise_argument(
            'p_delivery_id', p_delivery_id::text,
            format('its entity %s was retired meanwhile', v_retired)
        );
    END IF;
    PERFORM omd_delivery._require_contexts(p_delivery_id);
    PERFORM omd_delivery._require_unaccepted(omd.pending_rollback(e.module_id))
    FROM omd_delivery.delivery_entity AS de
    INNER JOIN omd_delivery.entity AS e USING (entity_id)
    WHERE de.delivery_id = p_delivery_id;

    SELECT a.batch_code, i.interface_code, i.model_version INTO v_agreement
    FROM omd_delivery.agreement AS a
    INNER JOIN omd_delivery.interface AS i USING (interface_id)
    WHERE a.agreement_id = v_delivery.agreement_id;
    CALL omd.begin_batch(
        v_agreement.batch_code,
        p_execution_context => p_execution_context,
        p_lease => p_lease,
        p_batch_instance_id => p_batch_instance_id,
        p_processing_indicator => v_indicator,
        p_reason => p_detail
    );
    IF v_indicator <> 'P' THEN
        p_outcome := CASE v_indicator WHEN 'C' THEN 'SKIPPED' ELSE 'ABORTED' END;
        p_execution_status_code := CASE v_indicator WHEN 'C' THEN 'C' ELSE 'A' END;
        RETURN;
    END IF;
    p_instances := '{}';
    FOR v_entity IN
        SELECT e.entity_id, e.entity_code
        FROM omd_delivery.delivery_entity AS de
        INNER JOIN omd_delivery.entity AS e USING (entity_id)
        WHERE de.delivery_id = p_delivery_id
        ORDER BY e.entity_id
    LOOP
        v_module_instance_id := NULL;
        CALL omd.begin_for_room(
            format('lvl.%s.%s', v_agreement.interface_code, v_entity.entity_code),
            p_batch_instance_id,
            p_execution_context,
            p_lease,
            p_executable => NULL,
            p_module_instance_id => v_module_instance_id,
            p_processing_indicator => v_indicator,
            p_reason => p_detail
        );
        IF v_indicator <> 'P' THEN
            p_outcome := CASE v_indicator WHEN 'C' THEN 'SKIPPED' ELSE 'ABORTED' END;
            p_execution_status_code := CASE v_indicator WHEN 'C' THEN 'C' ELSE 'A' END;
            p_detail := format('%s: %s', v_entity.entity_code, p_detail);
            p_instances := NULL;
            PERFORM omd.abort_run(p_batch_instance_id, 'NOT_ALL');
            RETURN;
        END IF;
        p_instances := p_instances
            || jsonb_build_object(v_entity.entity_code, v_module_instance_id);
        UPDATE omd_delivery.delivery_entity AS de SET module_instance_id = v_module_instance_id
        WHERE de.delivery_id = p_delivery_id AND de.entity_id = v_entity.entity_id;
    END LOOP;

    p_attempt := v_delivery.attempt + 1;
    UPDATE omd_delivery.delivery AS d SET
        attempt = p_attempt,
        batch_instance_id = p_batch_instance_id,
        is_running = TRUE,
        model_version = v_agreement.model_version,
        verdict = NULL
    WHERE d.delivery_id = p_delivery_id;
    PERFORM omd_delivery._fix_constraints(p_delivery_id, p_attempt);
    PERFORM omd_delivery._move(p_delivery_id, 'LOADED', 'begin_delivery', NULL);
    p_outcome := 'RUN';
    p_execution_status_code := 'E';
END
$begin_delivery$;

COMMENT ON PROCEDURE omd_delivery.begin_delivery IS
'For programs: '
'Begins a run of the delivery p_delivery_id, or says why not. p_lease: how long it lives without '
'heartbeat_delivery; NULL: for ever. p_execution_context: JSON about where it runs. Returns '
'p_outcome: RUN, go on with p_batch_instance_id, p_attempt and p_instances, {entity: Module '
'Instance}; RUNNING, a run of it executes; WAIT, another delivery of the interface runs or holds '
'its lock, a session still writes rows of it, a PHYSICAL one must wait or be waited for, or a '
'recall makes one of an earlier time come again; REFUSED, an entity was delivered at the same time '
'or later; SKIPPED or ABORTED, the answer of process control. p_detail says why. '
'p_execution_status_code: E for RUN, F for REFUSED, C for SKIPPED, A for RUNNING, WAIT and '
'ABORTED. Dead runs are ended first. What a former run wrote is rolled back. Errors: OM005: '
'p_delivery_id is NULL; OM011: p_lease is not allowed; OM013: p_execution_context is no JSON '
'object, or too large; OM014: the isolation level is not read committed; OM034: there is no such '
'delivery; OM036: an entity of it was retired; OM039: a Full entity has no context by the present '
'model; OM130: it is in another status than LOADED and VALIDATED; OM133: a run that was accepted '
'is to be undone. Locks: the interface and the delivery, without a wait; the Batch and the '
'Modules; the rows that are rolled back. May be NULL: p_batch_instance_id, p_attempt, p_instances, '
'p_detail.';
GRANT EXECUTE ON PROCEDURE omd_delivery.begin_delivery TO omd_runner;
