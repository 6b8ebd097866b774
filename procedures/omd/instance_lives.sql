-- This is the opposite of _give_up_module_instances: an instance that it would end does not live.

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
            AND coalesce(mi.lease_expires_at >= clock_timestamp(), TRUE)
            AND (
                NOT mi.is_session_bound
                OR omd.session_lives('MODULE', mi.module_instance_id)
            )
    );
END;

COMMENT ON FUNCTION omd.instance_lives IS
'For rooms: Returns whether the Module Instance p_module_instance_id executes, its lease has not '
'expired, and the statement that it is bound to still runs. Locks: none.';
REVOKE ALL ON FUNCTION omd.instance_lives FROM PUBLIC;
