-- Rooms ask about runs of their own, which no Batch has called, so a caller that has ended is no
-- cause here.

CREATE OR REPLACE FUNCTION omd.instance_lives(
    p_module_instance_id bigint
)
RETURNS boolean
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT EXISTS(
        SELECT FROM omd.module_instance AS mi
        WHERE
            mi.module_instance_id = p_module_instance_id
            AND mi.execution_status_code = 'E'
            AND omd._cause_of_death(
                mi.lease_expires_at,
                mi.is_session_bound,
                mi.backend_pid,
                mi.statement_start,
                mi.processing_indicator,
                0
            ) IS NULL
    );
END;

COMMENT ON FUNCTION omd.instance_lives IS
'For rooms: Returns whether the Module Instance p_module_instance_id executes, its lease has not '
'expired, and the statement that it is bound to still runs. Locks: none.';
REVOKE ALL ON FUNCTION omd.instance_lives FROM PUBLIC;
