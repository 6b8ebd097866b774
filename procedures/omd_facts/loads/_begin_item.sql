-- It does not commit: its callers do, so that the run is visible while it executes.

CREATE OR REPLACE PROCEDURE omd_facts._begin_item(
    p_interface_code text,
    p_batch_instance_id bigint,
    p_execution_context jsonb,
    INOUT p_outcome text DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_delivery_id bigint DEFAULT NULL,
    INOUT p_executable text DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $begin_item$
DECLARE
    v_interface omd_facts.interface := omd_facts._require_interface(p_interface_code);
    v_queue_id bigint;
    v_indicator text;
    v_reason text;
BEGIN
    PERFORM omd.require_read_committed();
    p_executable := 'omd_facts.load';
    v_queue_id := omd_delivery.next_queue_item(v_interface.interface_id);
    IF EXISTS (
        SELECT FROM omd.open_module_instances(v_interface.module_id) AS o (id)
        WHERE omd.instance_lives(o.id)
    ) THEN
        p_outcome := 'RUNNING';
        RETURN;
    ELSIF v_queue_id IS NULL AND omd.pending_rollback(v_interface.module_id) = '{}' THEN
        p_outcome := 'NOTHING';
        RETURN;
    ELSIF omd_facts._waits_for_readers(v_interface.interface_id, v_interface.module_id) THEN
        p_outcome := 'RUNNING';
        RETURN;
    END IF;
    CALL omd.begin_for_room(
        'facts.' || p_interface_code, p_batch_instance_id, p_execution_context, NULL, p_executable,
        p_module_instance_id, v_indicator, v_reason
    );
    IF v_indicator <> 'P' THEN
        p_outcome := CASE v_indicator WHEN 'A' THEN 'RUNNING' ELSE 'SKIPPED' END;
        p_detail := omd.reason_of(p_module_instance_id);
        RETURN;
    END IF;
    -- Another session may have loaded the item meanwhile, or the begin has put one back.
    v_queue_id := omd_delivery.next_queue_item(v_interface.interface_id);
    IF v_queue_id IS NULL THEN
        CALL omd.module_success(p_module_instance_id);
        p_outcome := 'NOTHING';
        RETURN;
    END IF;
    SELECT q.delivery_id INTO p_delivery_id FROM omd_delivery.queue_item(v_queue_id) AS q;
    PERFORM omd.record_load_window(
        p_module_instance_id, v_interface.module_id, NULL, NULL, NULL, v_queue_id
    );
    PERFORM omd_delivery.start_queue_item(v_queue_id, p_module_instance_id);
    p_executable := format(
        'SELECT omd_facts._load_item(%s, %s)', v_queue_id, p_module_instance_id
    );
    p_outcome := 'RUN';
END
$begin_item$;

COMMENT ON PROCEDURE omd_facts._begin_item IS
'Begins the load of the oldest item of the interface p_interface_code, for p_batch_instance_id, '
'with p_execution_context: p_outcome is RUN then, p_executable loads p_delivery_id as '
'p_module_instance_id; otherwise p_outcome and p_detail say why there is nothing to load. Locks: '
'the Module row, the item.';
GRANT EXECUTE ON PROCEDURE omd_facts._begin_item TO omd_runner;
