-- A task that a purge moves at this moment is tried again.

CREATE OR REPLACE FUNCTION omd_dispatch._claim_lane(
    p_family_code text,
    p_lane text,
    p_priority smallint,
    p_limit integer,
    p_backend_id text,
    p_claim_token bigint,
    p_position integer,
    p_members integer,
    p_now timestamptz,
    p_begins_at timestamptz,
    p_is_guarded boolean
)
RETURNS TABLE (
    task_id bigint,
    task_type text,
    criteria jsonb,
    payload jsonb,
    execution_time timestamptz,
    attempt integer,
    partition_code integer,
    is_held boolean
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $claim_lane$
BEGIN
    LOOP
        BEGIN
            RETURN QUERY EXECUTE format(
                'SELECT c.* FROM omd_dispatch.%I($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS c'
                ' ORDER BY c.execution_time, c.task_id',
                omd_dispatch._claim_routine(p_family_code, 'claim')
            ) USING p_lane, p_priority, p_limit, p_backend_id, p_claim_token, p_position, p_members,
                p_now, p_begins_at, p_is_guarded;
            EXIT;
        EXCEPTION
            WHEN serialization_failure THEN
                NULL;
        END;
    END LOOP;
END
$claim_lane$;

COMMENT ON FUNCTION omd_dispatch._claim_lane IS
'Claims up to p_limit due tasks of p_family_code in p_lane with p_priority for p_backend_id under '
'p_claim_token, and returns them: of those that are due at p_begins_at or later. With p_members '
'greater than 1 only those of the share p_position and what has been due for 5 seconds at p_now '
'are taken. What is not to be started is returned with is_held: with p_is_guarded a task that a '
'suspension holds, which is marked; a task whose earlier run still executes, which is due a second '
'later, or has succeeded, which is done. Locks: the tasks; locked ones are passed over.';
