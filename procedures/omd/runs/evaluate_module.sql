-- An evaluation on its own serves drivers that follow DIRECT event by event; begin_module includes
-- it. A pending rollback of a POSTGRES target is executed in the same transaction, with the rights
-- of the caller.

CREATE OR REPLACE PROCEDURE omd.evaluate_module(
    p_module_instance_id bigint,
    INOUT p_processing_indicator text DEFAULT NULL,
    INOUT p_instance_array bigint[] DEFAULT NULL,
    INOUT p_reason text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $evaluate_module$
DECLARE
    v_platform_code text;
    v_dead_module_id integer;
BEGIN
    SELECT
        a.p_processing_indicator, a.p_instance_array, a.p_reason, a.p_platform_code,
        a.p_dead_module_id
    INTO
        p_processing_indicator, p_instance_array, p_reason, v_platform_code, v_dead_module_id
    FROM omd._answer_module(p_module_instance_id) AS a;
    IF p_processing_indicator = 'R' THEN
        CALL omd._settle_rollback(p_module_instance_id, v_platform_code, p_processing_indicator);
    END IF;
    IF v_dead_module_id IS NOT NULL AND p_processing_indicator = 'P' THEN
        PERFORM omd._look_for_left_rows(v_dead_module_id);
    END IF;
END
$evaluate_module$;

COMMENT ON PROCEDURE omd.evaluate_module IS
'For programs: '
'Decides whether a Module Instance may run. p_processing_indicator: P proceed, A abort, C skip, R '
'roll back first (SPARK targets only). A and C close it, with p_reason RUNNING, '
'BATCH_NOT_PROCEEDING, NOT_REGISTERED, INACTIVE_IN_BATCH, INACTIVE, DIRECTIVE or '
'ALREADY_SUCCEEDED. p_instance_array: the instances that were rolled back (P) or have to be (R), '
'in the order of their ids. It is accepted from status E only. Errors: OM004, OM005, OM009, '
'OM014, OM100, OM101, OM112: the rollback does not undo everything, OM201, OM202, OM205. Locks: '
'the Module row. DIRECT, "Module Evaluation event". May be NULL: p_instance_array, p_reason.';
GRANT EXECUTE ON PROCEDURE omd.evaluate_module TO omd_runner;
