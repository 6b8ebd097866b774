-- A room that has begun a run, and has lost the program that would have ended it, asks here.
-- No Batch has called such a run, so a caller that has ended is no cause of its death.

CREATE OR REPLACE FUNCTION omd.instance_outcome(
    p_batch_instance_id bigint,
    p_module_instance_id bigint
)
RETURNS text
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN
                i.execution_status_code = 'E'
                AND omd._cause_of_death(
                    i.lease_expires_at,
                    i.is_session_bound,
                    i.backend_pid,
                    i.statement_start,
                    i.processing_indicator,
                    0
                ) IS NOT NULL
                THEN 'F'
            ELSE i.execution_status_code
        END
    FROM (
        SELECT
            bi.execution_status_code,
            bi.lease_expires_at,
            bi.is_session_bound,
            bi.backend_pid,
            bi.statement_start,
            bi.processing_indicator
        FROM omd.batch_instance AS bi
        WHERE bi.batch_instance_id = p_batch_instance_id
        UNION ALL
        SELECT
            mi.execution_status_code,
            mi.lease_expires_at,
            mi.is_session_bound,
            mi.backend_pid,
            mi.statement_start,
            mi.processing_indicator
        FROM omd.module_instance AS mi
        WHERE mi.module_instance_id = p_module_instance_id AND p_batch_instance_id IS NULL
    ) AS i;
END;

COMMENT ON FUNCTION omd.instance_outcome IS
'For rooms: Returns the Execution Status Code of the Batch Instance p_batch_instance_id, or, where '
'that is NULL, of the Module Instance p_module_instance_id: E only while it lives, F when it is '
'dead; NULL when there is none. They are runs without a caller. Locks: none.';
