-- The letters of docs/explanation/jobs.md, rule J11, of a delivery: what somebody did not want, or
-- has taken back, is skipped.

CREATE OR REPLACE FUNCTION omd_delivery._execution_status(
    p_delivery_status text,
    p_verdict text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'PERSISTING') THEN 'E'
            WHEN p_delivery_status IN ('CANCELLED', 'REVERTED') THEN 'C'
            WHEN p_delivery_status IN ('REFUSED', 'REJECTED') OR p_verdict = 'REJECTED' THEN 'F'
            ELSE 'S'
        END;
END;

COMMENT ON FUNCTION omd_delivery._execution_status IS
'Returns the execution status of a delivery of p_delivery_status with p_verdict: E, it is not '
'decided; S; F, it was refused or rejected; C, it was cancelled or taken back. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_delivery._execution_status TO omd_reader;
