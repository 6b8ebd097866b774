-- Gives up dead instances of one Module, or of all (NULL): the lease has passed, or the session is
-- gone.

CREATE OR REPLACE FUNCTION omd._give_up_module_instances(
    p_module_id integer
)
RETURNS bigint[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $give_up_module_instances$
DECLARE
    v_instance record;
    v_given_up bigint[] := ARRAY[]::bigint[];
BEGIN
    FOR v_instance IN
        SELECT mi.module_instance_id, mi.is_session_bound
        FROM omd.module_instance AS mi
        WHERE (mi.module_id = p_module_id OR p_module_id IS NULL)
            AND mi.execution_status_code = 'E'
            AND (
                mi.lease_expires_at < clock_timestamp()
                OR (mi.is_session_bound AND NOT omd.session_lives('MODULE', mi.module_instance_id))
            )
        ORDER BY mi.module_instance_id
        FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        PERFORM omd.fail_module_instance(
            v_instance.module_instance_id,
            CASE
                WHEN v_instance.is_session_bound THEN 'given up: the session that ran it is gone'
                ELSE 'given up: its lease has passed'
            END,
            'GIVEN UP'
        );
        v_given_up := v_given_up || v_instance.module_instance_id;
    END LOOP;
    RETURN v_given_up;
END
$give_up_module_instances$;

COMMENT ON FUNCTION omd._give_up_module_instances IS
'Ends dead instances of the Module p_module_id (NULL: of all) through the ordinary failure event '
'and answers their ids. Dead: the lease has passed, or the session that ran it is gone. Locks: '
'the instances it ends; locked ones are left alone.';
REVOKE ALL ON FUNCTION omd._give_up_module_instances FROM PUBLIC;
