-- An evaluation on its own serves drivers that follow DIRECT event by event; begin_batch includes
-- it.

CREATE OR REPLACE PROCEDURE omd.evaluate_batch(
    p_batch_instance_id bigint,
    INOUT p_processing_indicator text DEFAULT NULL,
    INOUT p_reason text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $evaluate_batch$
BEGIN
    SELECT d.p_processing_indicator, d.p_reason
    INTO p_processing_indicator, p_reason
    FROM omd._decide_batch(p_batch_instance_id, FALSE) AS d;
END
$evaluate_batch$;

COMMENT ON PROCEDURE omd.evaluate_batch IS
'For programs: '
'Decides whether a Batch Instance may run. p_processing_indicator: P proceed, A abort, C skip; A '
'and C close it, with p_reason RUNNING, BATCH_NOT_PROCEEDING, NOT_REGISTERED, INACTIVE, '
'ALREADY_SUCCEEDED, FREQUENCY or DIRECTIVE. It is accepted from status E only. Errors: OM003, '
'OM005, OM014, OM101. Locks: the Batch row. DIRECT, "Batch Evaluation event". May be NULL: '
'p_reason.';
GRANT EXECUTE ON PROCEDURE omd.evaluate_batch TO omd_runner;
