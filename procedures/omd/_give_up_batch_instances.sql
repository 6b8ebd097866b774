-- Gives up dead instances of one Batch, or of all (NULL): the lease has passed, or the session is
-- gone.

CREATE OR REPLACE FUNCTION omd._give_up_batch_instances(
    p_batch_id integer
)
RETURNS bigint[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $give_up_batch_instances$
DECLARE
    v_instance record;
    v_given_up bigint[] := ARRAY[]::bigint[];
BEGIN
    FOR v_instance IN
        SELECT bi.batch_instance_id, bi.is_session_bound
        FROM omd.batch_instance AS bi
        WHERE (bi.batch_id = p_batch_id OR p_batch_id IS NULL)
            AND bi.execution_status_code = 'E'
            AND (
                bi.lease_expires_at < clock_timestamp()
                OR (bi.is_session_bound AND NOT omd.session_lives('BATCH', bi.batch_instance_id))
            )
        ORDER BY bi.batch_instance_id
        FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        PERFORM omd._fail_batch_instance(
            v_instance.batch_instance_id,
            CASE
                WHEN v_instance.is_session_bound THEN 'given up: the session that ran it is gone'
                ELSE 'given up: its lease has passed'
            END,
            'GIVEN UP'
        );
        v_given_up := v_given_up || v_instance.batch_instance_id;
    END LOOP;
    RETURN v_given_up;
END
$give_up_batch_instances$;

COMMENT ON FUNCTION omd._give_up_batch_instances IS
'Ends dead instances of the Batch p_batch_id (NULL: of all) through the ordinary failure event '
'and answers their ids. Dead: the lease has passed, or the session that ran it is gone. Locks: '
'the instances it ends; locked ones are left alone.';
REVOKE ALL ON FUNCTION omd._give_up_batch_instances FROM PUBLIC;
