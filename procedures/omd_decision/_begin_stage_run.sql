-- The rollback of former runs runs with the rights of the caller. The run is pinned in the same
-- transaction.

CREATE OR REPLACE PROCEDURE omd_decision._begin_stage_run(
    p_stage_code text,
    p_batch_instance_id bigint,
    p_end_value timestamptz,
    p_effective_at timestamptz,
    p_execution_context jsonb,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_processing_indicator text DEFAULT NULL,
    INOUT p_executable text DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $begin_stage_run$
DECLARE
    v_plan record;
BEGIN
    p_executable := 'CALL omd_decision.process_stage()';
    SELECT p.* INTO v_plan
    FROM omd_decision._stage_plan(p_stage_code, p_effective_at, 'POSTGRES') AS p;
    PERFORM omd_decision._require_links(v_plan.definition);
    CALL omd.begin_in_database_run(
        v_plan.module_code, p_batch_instance_id, p_executable, p_module_instance_id,
        p_processing_indicator, p_execution_context
    );
    IF p_processing_indicator = 'P' THEN
        PERFORM omd_decision._pin_run(
            p_module_instance_id, 'POSTGRES', p_end_value, p_effective_at
        );
    ELSE
        p_detail := omd.reason_of(p_module_instance_id);
    END IF;
END
$begin_stage_run$;

COMMENT ON PROCEDURE omd_decision._begin_stage_run IS
'Begins a run of the stage p_stage_code in this statement, for p_batch_instance_id, up to '
'p_end_value, with the ruleset of p_effective_at and p_execution_context. Returns the id, the '
'indicator, the SQL to execute and, in p_detail, the reason of a skip or an abort. Locks: the '
'Module row.';
REVOKE ALL ON PROCEDURE omd_decision._begin_stage_run FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_decision._begin_stage_run TO omd_runner;
