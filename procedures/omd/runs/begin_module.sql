-- Creation and evaluation are one transaction, so that of many sessions that begin the same Module
-- exactly one proceeds.

CREATE OR REPLACE PROCEDURE omd.begin_module(
    p_module_code text,
    p_batch_instance_id bigint DEFAULT NULL,
    p_execution_context jsonb DEFAULT NULL,
    p_lease interval DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_processing_indicator text DEFAULT NULL,
    INOUT p_instance_array bigint[] DEFAULT NULL,
    INOUT p_reason text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $begin_module$
DECLARE
    v_answer record;
BEGIN
    v_answer := omd._open_module_instance(
        p_module_code, p_batch_instance_id, p_execution_context, p_lease, FALSE, TRUE
    );
    p_module_instance_id := v_answer.p_module_instance_id;
    p_processing_indicator := v_answer.p_processing_indicator;
    p_instance_array := v_answer.p_instance_array;
    p_reason := v_answer.p_reason;
    IF p_processing_indicator = 'R' THEN
        CALL omd._settle_rollback(
            p_module_instance_id, v_answer.p_platform_code, p_processing_indicator
        );
    END IF;
    IF v_answer.p_dead_module_id IS NOT NULL AND p_processing_indicator = 'P' THEN
        PERFORM omd._look_for_left_rows(v_answer.p_dead_module_id);
    END IF;
END
$begin_module$;

COMMENT ON PROCEDURE omd.begin_module IS
'For programs: '
'Creates and evaluates an instance of the Module p_module_code. Returns p_module_instance_id '
'(stamp it on every row), p_processing_indicator (P proceed, A abort, C skip, R roll back first, '
'then confirm_rollback), p_instance_array (the instances that were or have to be rolled back) and '
'p_reason. p_batch_instance_id: the Batch Instance that calls, NULL or 0 for a run on its own. '
'p_execution_context: JSON about where it runs; with the key seen_alive, a list of instances, none '
'is made (p_module_instance_id is 0) where another one executes whose death the caller may prove '
'by omd.report_death. p_lease: how long the run lives without '
'heartbeat; NULL: for ever. Dead instances of the Module are declared dead first. Errors: OM002, '
'OM003, OM005, OM009, OM011, OM013, OM014, OM100, OM101 (the Batch has just ended), OM112: the '
'rollback does not undo everything, OM201, OM202, OM205. Locks: the Module row. DIRECT, "Module '
'Processing". May be NULL: p_instance_array, p_reason.';
GRANT EXECUTE ON PROCEDURE omd.begin_module TO omd_runner;
