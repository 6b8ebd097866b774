-- Ends a Module Instance: the single place where its status becomes final. Accepted from E only, a
-- success only with indicator P. A failure asks for a rollback (R), unless an administrator has
-- asked for a skip meanwhile: the rollback is due in any case. Errors: OM004, OM005, OM101, OM102.
-- Locks: the instance row.

CREATE OR REPLACE FUNCTION omd.close_module_instance(
    p_module_instance_id bigint,
    p_execution_status_code text,
    p_reason text DEFAULT NULL,
    p_rows_input bigint DEFAULT 0,
    p_rows_inserted bigint DEFAULT 0,
    p_rows_updated bigint DEFAULT 0,
    p_rows_deleted bigint DEFAULT 0,
    p_rows_discarded bigint DEFAULT 0,
    p_rows_rejected bigint DEFAULT 0
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $close_module_instance$
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
        reason_code = p_reason,
        rows_input = p_rows_input,
        rows_inserted = p_rows_inserted,
        rows_updated = p_rows_updated,
        rows_deleted = p_rows_deleted,
        rows_discarded = p_rows_discarded,
        rows_rejected = p_rows_rejected
    WHERE mi.module_instance_id = p_module_instance_id
        AND mi.execution_status_code = 'E'
        AND (p_execution_status_code <> 'S' OR mi.processing_indicator = 'P');

    IF NOT FOUND THEN
        PERFORM omd.raise_module_instance_state(
            p_module_instance_id,
            CASE p_execution_status_code
                WHEN 'S' THEN 'succeed'
                WHEN 'F' THEN 'fail'
                WHEN 'A' THEN 'be aborted'
                ELSE 'be skipped'
            END
        );
    END IF;
END
$close_module_instance$;

COMMENT ON FUNCTION omd.close_module_instance IS
'Ends a Module Instance with the status S, F, A or C and its row counts. Accepted from E only, S '
'only with indicator P. F sets next_run_indicator to R. Errors: OM004, OM005, OM101, OM102. '
'Locks: the instance row.';
REVOKE ALL ON FUNCTION omd.close_module_instance FROM PUBLIC;
