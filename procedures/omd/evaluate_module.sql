-- Tells a created Module Instance whether it may run. A and C close the instance. For a POSTGRES
-- target a pending rollback is done here, with the rights of the caller, in the same transaction.

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
BEGIN
    SELECT a.p_processing_indicator, a.p_instance_array, a.p_reason, a.p_platform_code
    INTO p_processing_indicator, p_instance_array, p_reason, v_platform_code
    FROM omd._answer_module(p_module_instance_id) AS a;
    IF p_processing_indicator = 'R' THEN
        CALL omd._settle_rollback(p_module_instance_id, v_platform_code, p_processing_indicator);
    END IF;
END
$evaluate_module$;

COMMENT ON PROCEDURE omd.evaluate_module IS
'Tells a Module Instance whether it may run. p_processing_indicator: P proceed, A abort, C skip, '
'R roll back first (SPARK targets only). A and C close it, with p_reason RUNNING, '
'BATCH_NOT_PROCEEDING, NOT_REGISTERED, INACTIVE_IN_BATCH, INACTIVE, DIRECTIVE or '
'ALREADY_SUCCEEDED. p_instance_array: the instances that were rolled back (P) or are to be (R), '
'in id order. Accepted from status E only. Errors: OM004, OM005, OM009, OM014, OM101, OM112: the '
'rollback does not undo everything, OM201, OM202, OM205. Locks: the Module row. DIRECT, '
'"Module Evaluation event". '
'May be NULL: p_instance_array, p_reason.';
REVOKE ALL ON PROCEDURE omd.evaluate_module FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.evaluate_module TO omd_runner;
