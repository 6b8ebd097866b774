-- SKIP LOCKED makes it right whatever members think of each other; the share of a member only
-- keeps them out of each other's way. The plans use indexes only, even when the tables were empty
-- or never analysed.

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
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $claim_lane$
BEGIN
    LOOP
        BEGIN
            RETURN QUERY EXECUTE format(
                $sql$
                WITH picked AS MATERIALIZED (
                    SELECT t.task_id, %5$s AS partition_code, %3$s AS suspension_id
                    FROM %1$s AS t
                    WHERE t.status = 'PENDING'
                        AND t.suspension_id IS NULL
                        AND t.lane = $1
                        AND t.priority = $2
                        AND t.execution_time <= $3
                        AND t.execution_time >= $9
                        AND t.execution_time >= $9
                        %4$s
                    ORDER BY t.execution_time, t.task_id
                    LIMIT $4
                    FOR UPDATE SKIP LOCKED
                ),
                claimed AS (
                    UPDATE %1$s AS t SET
                        status = CASE WHEN p.suspension_id IS NULL THEN 'CLAIMED' ELSE t.status END,
                        suspension_id = p.suspension_id,
                        attempt = t.attempt + (p.suspension_id IS NULL)::integer,
                        claimed_by = CASE WHEN p.suspension_id IS NULL THEN $5 END,
                        claimed_at = CASE WHEN p.suspension_id IS NULL THEN $3 END,
                        claim_token = CASE WHEN p.suspension_id IS NULL THEN $6 END
                    FROM picked AS p
                    WHERE t.task_id = p.task_id AND %5$s = p.partition_code
                    RETURNING
                        t.task_id, t.task_type, %2$s AS criteria, t.payload, t.execution_time, t.attempt,
                        %5$s AS partition_code, p.suspension_id IS NOT NULL AS is_held
                )
                SELECT c.* FROM claimed AS c ORDER BY c.execution_time, c.task_id
                $sql$,
                omd_dispatch._model_table(p_family_code),
                omd_dispatch._criteria_sql(p_family_code),
                CASE
                    WHEN p_is_guarded THEN format(
                        'omd_dispatch._matching_suspension(%L, t.task_type, %s)',
                        p_family_code, omd_dispatch._criteria_sql(p_family_code)
                    )
                    ELSE 'NULL::bigint'
                END,
                CASE
                    WHEN p_members > 1 THEN
                        'AND (t.task_id % $7 = $8 OR t.execution_time < $3 - interval ''5 seconds'')'
                    ELSE ''
                END,
                omd_dispatch._slot_sql(p_family_code)
            ) USING p_lane COLLATE "C", p_priority, p_now, p_limit, p_backend_id, p_claim_token, p_members,
                p_position, p_begins_at;
            EXIT;
        EXCEPTION
            WHEN serialization_failure THEN
                -- A purge has moved a task.
                NULL;
        END;
    END LOOP;
END
$claim_lane$;

COMMENT ON FUNCTION omd_dispatch._claim_lane IS
'Claims up to p_limit due tasks of p_family_code in p_lane with p_priority for p_backend_id under '
'p_claim_token, and returns them: of those that are due at p_begins_at or later. With p_members '
'greater than 1 only those of the share p_position and what has been due for 5 seconds at p_now '
'are taken. With p_is_guarded, a task that a suspension holds is marked and returned with is_held '
'instead. Locks: the tasks; locked ones are passed over.';
REVOKE ALL ON FUNCTION omd_dispatch._claim_lane FROM PUBLIC;
