-- The part of the kind FACTS in omd.room_hook.

CREATE OR REPLACE PROCEDURE omd_facts.begin_run(
    p_module_code text,
    p_batch_instance_id bigint,
    p_execution_context jsonb,
    INOUT p_outcome text,
    INOUT p_module_instance_id bigint,
    INOUT p_executable text,
    INOUT p_detail text
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $begin_run$
DECLARE
    v_interface_code CONSTANT text := omd_facts._interface_of(p_module_code);
    v_delivery_id bigint;
BEGIN
    CALL omd_facts._begin_item(
        v_interface_code, p_batch_instance_id, p_execution_context,
        p_outcome, p_module_instance_id, v_delivery_id, p_executable, p_detail
    );
    IF p_outcome = 'RUNNING' THEN
        p_outcome := 'BUSY';
    ELSIF p_outcome = 'NOTHING' THEN
        p_detail := format('nothing is queued for %s', v_interface_code);
    END IF;
END
$begin_run$;

COMMENT ON PROCEDURE omd_facts.begin_run IS
'For rooms: Begins the load of the oldest item of the interface whose Module is p_module_code, as '
'omd.room_hook describes it: p_batch_instance_id and p_execution_context go in; p_outcome, '
'p_module_instance_id, p_executable and p_detail are the answer. Errors: those of load. Locks: as '
'load.';
GRANT EXECUTE ON PROCEDURE omd_facts.begin_run TO omd_runner;
