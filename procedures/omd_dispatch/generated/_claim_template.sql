-- SKIP LOCKED makes it right whatever backends think of each other; the share of a backend only
-- keeps them out of each other's way. A run that goes on although its worker is gone is waited for,
-- and when it has succeeded the task is done: to begin it again would load it twice.

CREATE OR REPLACE FUNCTION omd_dispatch._claim_template()
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $claim_template$
BEGIN
    RETURN $template$
CREATE OR REPLACE FUNCTION {function}(
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
{settings}
AS $claim$
#variable_conflict use_column
DECLARE
    v_part {table}.{part}%TYPE;
    v_free bigint[];
    v_held jsonb;
BEGIN
    FOR v_part, v_free, v_held IN
        WITH picked AS MATERIALIZED (
            SELECT
                t.{part} AS part,
                t.task_id,
                CASE
                    WHEN p_is_guarded THEN omd_dispatch._matching_suspension(
                        {family}, t.task_type, {criteria}
                    )
                END AS suspension_id,
                -- The run of a worker that was lost may go on without it.
                CASE
                    WHEN t.batch_instance_id IS NOT NULL
                        OR t.module_instance_id IS NOT NULL
                        THEN (
                            SELECT o.outcome FROM omd.instance_outcome(
                                t.batch_instance_id, t.module_instance_id
                            ) AS o (outcome)
                            WHERE o.outcome IN ('E', 'S')
                        )
                END AS earlier
            FROM {table} AS t
            WHERE t.status = 'PENDING'
                AND t.suspension_id IS NULL
                AND t.lane = p_lane COLLATE "C"
                AND t.priority = p_priority
                AND t.execution_time <= p_now
                AND t.execution_time >= p_begins_at
                AND (
                    p_members = 1
                    OR t.task_id % p_members = p_position
                    OR t.execution_time < p_now - interval '5 seconds'
                )
            ORDER BY t.execution_time, t.task_id
            LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        )
        SELECT
            p.part,
            array_agg(p.task_id) FILTER (
                WHERE p.suspension_id IS NULL AND p.earlier IS NULL
            ),
            jsonb_agg(p) FILTER (
                WHERE p.suspension_id IS NOT NULL OR p.earlier IS NOT NULL
            )
        FROM picked AS p
        GROUP BY p.part
    LOOP
        RETURN QUERY
        UPDATE {table} AS t SET
            status = 'CLAIMED',
            attempt = t.attempt + 1,
            finished_at = NULL,
            claimed_by = p_backend_id,
            claimed_at = p_now,
            claim_token = p_claim_token
        WHERE t.{part} = v_part AND t.task_id = ANY(v_free)
        RETURNING
            t.task_id, t.task_type, {criteria}, t.payload, t.execution_time,
            t.attempt, {partition}, FALSE;
        CONTINUE WHEN v_held IS NULL;
        RETURN QUERY
        WITH held AS (
            UPDATE {table} AS t SET
                status = CASE
                    WHEN h.suspension_id IS NULL AND h.earlier = 'S' THEN 'DONE'
                    ELSE 'PENDING'
                END,
                suspension_id = h.suspension_id,
                execution_time = CASE
                    WHEN h.suspension_id IS NULL AND h.earlier = 'E'
                        THEN p_now + interval '1 second'
                    ELSE t.execution_time
                END,
                outcome = CASE
                    WHEN h.suspension_id IS NULL AND h.earlier = 'S' THEN 'S'
                    ELSE t.outcome
                END,
                finished_at = CASE
                    WHEN h.suspension_id IS NULL AND h.earlier = 'S' THEN p_now
                END
            FROM jsonb_to_recordset(v_held) AS h (
                task_id bigint, suspension_id bigint, earlier text
            )
            WHERE t.{part} = v_part AND t.task_id = ANY(ARRAY[h.task_id])
            RETURNING t.task_id, t.status
        ),
        freed AS (
            DELETE FROM omd_dispatch.mutex AS m
            WHERE m.task_id = ANY(
                ARRAY(SELECT h.task_id FROM held AS h WHERE h.status = 'DONE')
            )
        )
        SELECT
            h.task_id, NULL::text, NULL::jsonb, NULL::jsonb, p_now, 0, 0, TRUE
        FROM held AS h;
        PERFORM set_config(
            'omd_dispatch.marked',
            (
                coalesce(
                    nullif(current_setting('omd_dispatch.marked', TRUE), ''), '0'
                )::integer
                + jsonb_array_length(v_held)
            )::text,
            TRUE
        );
    END LOOP;
END
$claim$;

COMMENT ON FUNCTION {function} IS
'Of the family {code}: returns up to p_limit tasks that it has claimed, as _claim_lane says.';
$template$;
END
$claim_template$;

COMMENT ON FUNCTION omd_dispatch._claim_template IS
'Returns the template of the function of a family that claims tasks of a lane. '
'Locks: none.';
