-- One statement decides for a task or for a thousand; complete_tasks and the settlement of dead
-- members both come here.

CREATE OR REPLACE FUNCTION omd_dispatch._end_claims(
    p_family_code text,
    p_results jsonb
)
RETURNS SETOF bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $end_claims$
DECLARE
    v_task_id bigint;
    v_task_type text;
    v_status text;
    v_attempt integer;
    v_error text;
    v_key_hash bytea;
    v_batch_instance_id bigint;
    v_module_instance_id bigint;
    v_over bigint[] := '{}'::bigint[];
BEGIN
    PERFORM omd_dispatch._hold_model(p_family_code);
    LOOP
        BEGIN
            FOR
                v_task_id, v_task_type, v_status, v_attempt, v_error, v_key_hash, v_batch_instance_id,
                v_module_instance_id
            IN
                EXECUTE format(
                    $sql$
                    WITH result AS MATERIALIZED (
                        SELECT DISTINCT ON (r.task_id, r.claim_token) r.*
                        FROM jsonb_to_recordset($1) AS r (
                            task_id bigint, claim_token bigint, claimed_by text, outcome text, error text,
                            error_code text, n bigint
                        )
                        ORDER BY r.task_id, r.claim_token, r.n
                    ),
                    held AS MATERIALIZED (
                        SELECT
                            t.task_id, %2$s AS partition_code, t.attempt, t.cancel_requested, t.task_type,
                            r.error, r.error_code, r.outcome AS told, r.claim_token
                        FROM result AS r
                        INNER JOIN %1$s AS t ON r.task_id = t.task_id
                        WHERE t.status = 'CLAIMED'
                            AND t.claimed_by = r.claimed_by
                            AND t.claim_token = r.claim_token
                        FOR UPDATE OF t
                    ),
                    judged AS MATERIALIZED (
                        SELECT
                            h.*, i.instance_type, i.instance_id, o.outcome, o.is_lost, c.max_attempts,
                            c.backoff, c.backoff_limit, c.later_after,
                            CASE
                                WHEN o.outcome IN ('S', 'C') THEN 'DONE'
                                WHEN h.cancel_requested THEN 'CANCELLED'
                                WHEN o.outcome = 'A' THEN 'PENDING'
                                WHEN h.attempt >= c.max_attempts OR h.error_code ~ '^OM[02]' THEN 'DEAD'
                                ELSE 'PENDING'
                            END AS status
                        FROM held AS h
                        INNER JOIN omd_dispatch.task_conf_type_desc AS c
                            ON c.family_code = $2 AND h.task_type = c.task_type
                        LEFT JOIN LATERAL omd.instance_of_task(h.task_id, h.claim_token) AS i ON TRUE
                        CROSS JOIN LATERAL (
                            SELECT
                                CASE
                                    WHEN h.told IN ('S', 'F', 'A', 'C') THEN h.told
                                    WHEN i.execution_status_code <> 'E' THEN i.execution_status_code
                                    WHEN h.told IS NULL AND i.execution_status_code = 'E' THEN 'A'
                                    ELSE 'F'
                                END AS outcome,
                                h.told = 'LOST' AND coalesce(i.execution_status_code = 'E', TRUE) AS is_lost
                        ) AS o
                    )
                    UPDATE %1$s AS t SET
                        status = j.status,
                        outcome = j.outcome,
                        error = CASE WHEN j.outcome IN ('F', 'A') THEN j.error END,
                        attempt = t.attempt - (j.outcome = 'A')::integer,
                        execution_time = CASE
                            WHEN j.status <> 'PENDING' OR j.is_lost THEN t.execution_time
                            WHEN j.outcome = 'A' THEN clock_timestamp() + j.later_after
                            -- The backoff itself would overflow after many attempts.
                            WHEN extract(EPOCH FROM j.backoff) * power(2, least(j.attempt - 1, 99))
                                < extract(EPOCH FROM j.backoff_limit)
                                THEN clock_timestamp() + j.backoff * power(2, least(j.attempt - 1, 99))
                            ELSE clock_timestamp() + j.backoff_limit
                        END,
                        finished_at = CASE WHEN j.status <> 'PENDING' THEN clock_timestamp() END,
                        batch_instance_id = CASE
                            WHEN j.instance_type = 'BATCH' THEN j.instance_id ELSE t.batch_instance_id
                        END,
                        module_instance_id = CASE
                            WHEN j.instance_type = 'MODULE' THEN j.instance_id ELSE t.module_instance_id
                        END,
                        claimed_by = NULL,
                        claimed_at = NULL,
                        claim_token = NULL,
                        cancel_requested = FALSE
                    FROM judged AS j
                    WHERE t.task_id = j.task_id AND %2$s = j.partition_code
                    RETURNING
                        t.task_id, t.task_type, t.status, t.attempt, t.error, t.key_hash,
                        t.batch_instance_id, t.module_instance_id
                    $sql$,
                    omd_dispatch._model_table(p_family_code),
                    omd_dispatch._slot_sql(p_family_code)
                ) USING p_results, p_family_code
            LOOP
                IF v_status <> 'PENDING' AND v_key_hash IS NOT NULL THEN
                    v_over := v_over || v_task_id;
                END IF;
                IF v_status = 'DEAD' THEN
                    PERFORM omd.write_event(
                        coalesce(v_module_instance_id, 0),
                        coalesce(v_batch_instance_id, 0),
                        6,
                        'TASK DEAD',
                        format(
                            'task %s (%s %s) is dead after %s attempts: %s',
                            v_task_id, p_family_code, v_task_type, v_attempt,
                            coalesce(v_error, 'no error was told')
                        )
                    );
                END IF;
                RETURN NEXT v_task_id;
            END LOOP;
            EXIT;
        EXCEPTION
            WHEN serialization_failure THEN
                -- A purge has moved a task.
                NULL;
        END;
    END LOOP;
    IF v_over <> '{}' THEN
        DELETE FROM omd_dispatch.mutex AS m WHERE m.task_id = ANY(v_over);
    END IF;
END
$end_claims$;

COMMENT ON FUNCTION omd_dispatch._end_claims IS
'Ends claims of tasks of p_family_code and returns the tasks whose claim it has ended. p_results: '
'an array of {"task_id", "claim_token", "claimed_by", "outcome", "error", "error_code"}; a task '
'that is not claimed by that member under that token is left alone. An outcome that is NULL is '
'that of the instance which the task has begun; LOST says that the member is dead: the instance '
'decides if it has ended, else the task is due at once. Locks: the tasks and their keys.';
REVOKE ALL ON FUNCTION omd_dispatch._end_claims FROM PUBLIC;
