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
            CASE
                WHEN bi.lease_expires_at < clock_timestamp() THEN 'its lease has expired'
                WHEN bi.is_session_bound
                    AND omd._statement_runs(bi.backend_pid, bi.statement_start) IS NOT TRUE
                    THEN 'the statement that ran it has ended'
                ELSE format('Batch Instance %s has ended', bi.parent_batch_instance_id)
            END AS cause
        FROM omd.batch_instance AS bi
        WHERE (bi.batch_id = p_batch_id OR p_batch_id IS NULL)
            AND bi.execution_status_code = 'E'
            AND (
                bi.lease_expires_at < clock_timestamp()
                OR (
                    bi.is_session_bound
                    AND omd._statement_runs(bi.backend_pid, bi.statement_start) IS NOT TRUE
                )
                OR (
                    bi.parent_batch_instance_id <> 0
                    AND bi.processing_indicator <> 'A'
                    AND EXISTS (
                        SELECT FROM omd.batch_instance AS caller
                        WHERE caller.batch_instance_id = bi.parent_batch_instance_id
                            AND caller.execution_status_code <> 'E'
                    )
                )
            )
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
'ordinary failure event and returns their ids. An instance is dead when its lease has expired, or '
'when the statement that ran it or the Batch Instance that called it has ended. Locks: the '
'instances it ends; locked ones are left alone.';
REVOKE ALL ON FUNCTION omd._give_up_batch_instances FROM PUBLIC;
