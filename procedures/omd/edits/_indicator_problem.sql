-- An edit by hand and a bulk action are refused for the same reasons.

CREATE OR REPLACE FUNCTION omd._indicator_problem(
    p_next_run_indicator text,
    p_execution_status_code text,
    p_reason_code text,
    p_is_module boolean,
    p_rolled_back_by_module_instance_id bigint
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN
                p_is_module
                AND p_next_run_indicator = 'P'
                AND p_execution_status_code = 'F'
                AND p_rolled_back_by_module_instance_id IS NULL
                THEN 'it failed and its rollback is pending; set R, which also removes a C'
            WHEN p_next_run_indicator <> 'R' THEN NULL
            WHEN p_execution_status_code IN ('A', 'C') AND p_reason_code IS NOT NULL
                THEN 'it was not allowed to run, so there is nothing to roll back'
            -- A run that was declared dead may have gone on and left rows after its rollback.
            WHEN p_rolled_back_by_module_instance_id IS NOT NULL AND p_execution_status_code <> 'F'
                THEN 'it was rolled back already'
        END;
END;

COMMENT ON FUNCTION omd._indicator_problem IS
'Returns why an instance with these values can''t get the Next Run Indicator '
'p_next_run_indicator; NULL: it can. Locks: none.';
