-- A failure asks for a rollback (R), unless an administrator has asked for a skip in the meantime:
-- the rollback is pending in both cases, since the run failed.

CREATE OR REPLACE FUNCTION omd._close_module_instance(
    p_module_instance_id bigint,
    p_execution_status_code text,
    p_reason text DEFAULT NULL
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $close_module_instance$
DECLARE
    v_batch_instance_id bigint;
    v_is_sent boolean;
BEGIN
    UPDATE omd.module_instance AS mi SET
        execution_status_code = p_execution_status_code,
        processing_indicator = CASE
            WHEN p_execution_status_code IN ('A', 'C') THEN p_execution_status_code
            ELSE mi.processing_indicator
        END,
        next_run_indicator = CASE
            WHEN p_execution_status_code = 'F' AND mi.next_run_indicator <> 'C' THEN 'R'
            ELSE mi.next_run_indicator
        END,
        end_datetime = clock_timestamp(),
        newest_instance_id = pg_sequence_last_value(
            'omd.module_instance_module_instance_id_seq'
        ),
        reason_code = p_reason
    WHERE mi.module_instance_id = p_module_instance_id
        AND mi.execution_status_code = 'E'
    RETURNING
        mi.batch_instance_id,
        omd._tell_instance('Module Instance', mi.module_instance_id, mi.end_datetime)
    INTO v_batch_instance_id, v_is_sent;

    IF v_is_sent IS NULL THEN
        PERFORM omd._raise_module_instance_state(
            p_module_instance_id,
            CASE p_execution_status_code
                WHEN 'F' THEN 'fail'
                WHEN 'A' THEN 'be aborted'
                ELSE 'be skipped'
            END
        );
    END IF;
    RETURN v_batch_instance_id;
END
$close_module_instance$;

COMMENT ON FUNCTION omd._close_module_instance IS
'Ends a Module Instance that did not succeed, with the status F, A or C, and returns the Batch '
'Instance that called it. It is accepted from E only. F sets next_run_indicator to R. Errors: '
'OM004, OM005, OM101. Locks: the instance row.';
