-- The part of the kind STAGE in omd.room_hook.

CREATE OR REPLACE PROCEDURE omd_decision.begin_run(
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
BEGIN
    CALL omd_decision._begin_stage_run(
        omd_decision._stage_of(p_module_code), p_batch_instance_id, NULL, NULL, NULL,
        p_execution_context, p_outcome, p_module_instance_id, p_executable, p_detail
    );
END
$begin_run$;

COMMENT ON PROCEDURE omd_decision.begin_run IS
'For rooms: Begins a run of the stage whose Module is p_module_code, as omd.room_hook describes '
'it: p_batch_instance_id and p_execution_context go in; p_outcome, p_module_instance_id, '
'p_executable and p_detail are the answer. Errors: those of run_stage. Locks: as run_stage.';
GRANT EXECUTE ON PROCEDURE omd_decision.begin_run TO omd_runner;
