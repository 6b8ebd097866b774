-- The part of the kind FACTS in omd.room_hook. The success has taken the item out of the queue in
-- its own transaction; a failure puts it back here.

CREATE OR REPLACE PROCEDURE omd_facts.end_run(
    p_module_instance_id bigint,
    p_execution_status_code text,
    INOUT p_is_more boolean
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $end_run$
DECLARE
    v_first_begin CONSTANT text := current_setting('omd.first_begin', TRUE);
    v_state record;
BEGIN
    p_is_more := FALSE;
    SELECT i.module_id, i.end_id INTO v_state FROM omd.instance_state(p_module_instance_id) AS i;
    IF p_execution_status_code <> 'S' THEN
        PERFORM omd_delivery.release_queue_item(v_state.end_id, p_module_instance_id);
    ELSIF v_first_begin <> '' THEN
        SELECT omd_delivery.is_queued(f.interface_id, v_first_begin::timestamptz) INTO p_is_more
        FROM omd_facts.interface AS f
        WHERE f.module_id = v_state.module_id;
    END IF;
END
$end_run$;

COMMENT ON PROCEDURE omd_facts.end_run IS
'For rooms: Puts the item of the load p_module_instance_id, which has ended with '
'p_execution_status_code, back into the queue unless it is loaded. p_is_more: items are left that '
'were queued when the first load began. Locks: the item after a failure.';
GRANT EXECUTE ON PROCEDURE omd_facts.end_run TO omd_runner;
