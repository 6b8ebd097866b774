-- Most tasks are short, succeed and begin no run, so that nothing is to be decided at their end.
-- They end by one statement that probes the primary key of one partition for all of them.

CREATE OR REPLACE FUNCTION omd_dispatch._end_done(
    p_family_code text,
    p_partition_code integer,
    p_backend_id text,
    p_claim_token bigint,
    p_task_ids bigint[]
)
RETURNS bigint[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_done$
DECLARE
    v_ended bigint[];
BEGIN
    PERFORM omd_dispatch._hold_model(p_family_code);
    BEGIN
        EXECUTE format(
            'SELECT omd_dispatch.%I($1, $2, $3, $4)',
            omd_dispatch._claim_routine(p_family_code, 'done')
        )
        INTO v_ended
        USING p_backend_id, p_partition_code, p_claim_token, p_task_ids;
    EXCEPTION
        WHEN serialization_failure THEN
            NULL; -- _end_claims tries again
    END;
    RETURN coalesce(v_ended, '{}'::bigint[]);
END
$end_done$;

COMMENT ON FUNCTION omd_dispatch._end_done IS
'Ends the claims p_claim_token of p_backend_id of the tasks p_task_ids in the partition '
'p_partition_code of p_family_code, which have succeeded and have begun no run. It returns those '
'that it has ended; of the others _end_claims knows more. Locks: the tasks and their keys.';
