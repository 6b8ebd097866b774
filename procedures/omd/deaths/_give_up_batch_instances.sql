-- A dead run can't report its own end, so the next begin, or a call of reap_expired_instances, ends
-- it. Locked instances are skipped: a session works on them at this moment, so a wait would only
-- cost time.

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
        SELECT
            bi.batch_instance_id,
            omd._cause_of_death(
                bi.lease_expires_at, bi.is_session_bound, bi.backend_pid, bi.statement_start,
                bi.processing_indicator, bi.parent_batch_instance_id
            ) AS cause
        FROM omd.batch_instance AS bi
        WHERE (bi.batch_id = p_batch_id OR p_batch_id IS NULL)
            AND bi.execution_status_code = 'E'
            -- Not in a lateral join: of a row that a heartbeat changes meanwhile, only what stands
            -- here is looked at again.
            AND omd._cause_of_death(
                bi.lease_expires_at, bi.is_session_bound, bi.backend_pid, bi.statement_start,
                bi.processing_indicator, bi.parent_batch_instance_id
            ) IS NOT NULL
        ORDER BY bi.batch_instance_id
        FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        PERFORM omd._fail_batch_instance(
            v_instance.batch_instance_id,
            'the run was declared dead because ' || v_instance.cause,
            'GIVEN UP'
        );
        v_given_up := v_given_up || v_instance.batch_instance_id;
    END LOOP;
    RETURN v_given_up;
END
$give_up_batch_instances$;

COMMENT ON FUNCTION omd._give_up_batch_instances IS
'Declares dead instances of the Batch p_batch_id (NULL: of all) dead: ends them through the '
'ordinary failure event and returns their ids. Locks: the instances it ends; locked ones are left '
'alone.';
