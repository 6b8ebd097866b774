-- Only a claimed task has a token. Its status would offer the index of claimed tasks to the
-- planner, which would read it once for each result.

CREATE OR REPLACE FUNCTION omd_dispatch._end_template()
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_template$
BEGIN
    RETURN $template$
CREATE OR REPLACE FUNCTION {function}(
    p_backend_id text,
    p_results jsonb
)
RETURNS bigint[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
{settings}
AS $end$
DECLARE
    v_partition integer;
    v_all bigint[] := '{}'::bigint[];
    v_ended bigint[];
    v_over bigint[];
    v_dead jsonb;
    v_noted jsonb;
BEGIN
    -- Most often all are in the partition of the first one, and the others are not read.
    SELECT {partition} INTO v_partition
    FROM {table} AS t
    WHERE t.task_id = ANY(ARRAY[(p_results -> 0 ->> 'task_id')::bigint]);
    FOR v_pass IN CASE WHEN v_partition IS NULL THEN 2 ELSE 1 END..2 LOOP
        {for passes}
        IF v_pass = {pass} THEN
            WITH result AS MATERIALIZED (
                SELECT DISTINCT ON (r.task_id, r.claim_token)
                    r.task_id, r.claim_token, coalesce(p_backend_id, r.claimed_by) AS holder,
                    r.outcome, r.error, r.error_code, r.is_given_up, v_partition AS partition_code
                FROM ROWS FROM (
                    jsonb_to_recordset(p_results) AS (
                        task_id bigint, claim_token bigint, claimed_by text, outcome text,
                        error text, error_code text, is_given_up boolean
                    )
                ) WITH ORDINALITY AS r (
                    task_id, claim_token, claimed_by, outcome, error, error_code, is_given_up, n
                )
                ORDER BY r.task_id, r.claim_token, r.n
            ),
            ended AS (
                UPDATE {table} AS t SET
                    (
                        status, outcome, error, attempt, execution_time, finished_at, pending_since,
                        batch_instance_id, module_instance_id
                    ) = (
                        SELECT
                            j.status,
                            j.outcome,
                            CASE WHEN j.outcome IN ('F', 'A') THEN r.error END,
                            t.attempt - (j.outcome = 'A')::integer,
                            CASE
                                WHEN j.status <> 'PENDING' OR j.is_lost THEN t.execution_time
                                WHEN j.outcome = 'A' THEN clock_timestamp() + j.later_after
                                -- The backoff itself would overflow after many attempts.
                                WHEN extract(EPOCH FROM j.backoff)
                                    * power(2, least(t.attempt - 1, 99))
                                    < extract(EPOCH FROM j.backoff_limit)
                                    THEN clock_timestamp()
                                        + j.backoff * power(2, least(t.attempt - 1, 99))
                                ELSE clock_timestamp() + j.backoff_limit
                            END,
                            CASE WHEN j.status <> 'PENDING' THEN clock_timestamp() END,
                            CASE WHEN j.status = 'PENDING' THEN clock_timestamp() END,
                            CASE
                                WHEN j.instance_type = 'BATCH' THEN j.instance_id
                                ELSE t.batch_instance_id
                            END,
                            CASE
                                WHEN j.instance_type = 'MODULE' THEN j.instance_id
                                ELSE t.module_instance_id
                            END
                        FROM (
                            SELECT
                                o.outcome, o.is_lost, i.instance_type, i.instance_id,
                                c.backoff, c.backoff_limit, c.later_after,
                                omd_dispatch._next_status(
                                    o.outcome, t.attempt, t.cancel_requested, c, r.error_code
                                ) AS status
                            FROM omd_dispatch.task_conf_type_desc AS c
                            LEFT JOIN LATERAL omd.instance_of_task(
                                t.task_id, t.claim_token
                            ) AS i ON TRUE
                            CROSS JOIN LATERAL (
                                SELECT
                                    CASE
                                        WHEN r.outcome IN ('S', 'F', 'A', 'C') THEN r.outcome
                                        WHEN i.execution_status_code <> 'E'
                                            THEN i.execution_status_code
                                        WHEN r.outcome IS NULL
                                            AND i.execution_status_code = 'E'
                                            THEN 'A'
                                        ELSE 'F'
                                    END AS outcome,
                                    r.outcome = 'LOST'
                                    AND (
                                        r.is_given_up IS TRUE
                                        OR coalesce(i.execution_status_code = 'E', TRUE)
                                    ) AS is_lost
                            ) AS o
                            WHERE c.family_code = {family} AND c.task_type = t.task_type
                        ) AS j
                    ),
                    claimed_by = NULL,
                    claimed_at = NULL,
                    claim_token = NULL,
                    cancel_requested = FALSE
                FROM result AS r
                WHERE {here}
                    AND t.task_id = ANY(ARRAY[r.task_id])
                    AND t.claimed_by = r.holder
                    AND t.claim_token = r.claim_token
                RETURNING
                    t.task_id, t.task_type, t.status, t.attempt, t.error, t.key_hash,
                    t.batch_instance_id, t.module_instance_id,
                    CASE
                        WHEN t.status IN ('DONE', 'CANCELLED') AND (
                            t.outcome = 'F'
                            OR (
                                t.outcome = 'C'
                                AND coalesce(t.batch_instance_id, t.module_instance_id) IS NULL
                            )
                        )
                            THEN jsonb_build_object(
                                'task_id', t.task_id, 'claim_token', r.claim_token,
                                'task_type', t.task_type, 'code', CASE
                                    WHEN t.status = 'DONE' THEN {criteria} ->> 'CODE'
                                END,
                                'outcome', t.outcome, 'error', r.error,
                                'error_code', CASE
                                    WHEN r.outcome = 'LOST' THEN 'WORKER LOST' ELSE r.error_code
                                END
                            )
                    END AS noted
            )
            SELECT
                array_agg(e.task_id),
                array_agg(e.task_id) FILTER (
                    WHERE e.status <> 'PENDING' AND e.key_hash IS NOT NULL
                ),
                jsonb_agg(to_jsonb(e) - 'key_hash') FILTER (WHERE e.status = 'DEAD'),
                jsonb_agg(e.noted) FILTER (WHERE e.noted IS NOT NULL)
            INTO v_ended, v_over, v_dead, v_noted
            FROM ended AS e;
        END IF;
        {end}
        IF v_over IS NOT NULL THEN
            DELETE FROM omd_dispatch.mutex AS m WHERE m.task_id = ANY(v_over);
        END IF;
        IF v_dead IS NOT NULL THEN
            PERFORM omd_dispatch._tell_dead({family}, v_dead);
        END IF;
        IF v_noted IS NOT NULL THEN
            PERFORM omd_dispatch._note_ends({family}, v_noted);
        END IF;
        v_all := v_all || v_ended;
        EXIT WHEN cardinality(v_all) = jsonb_array_length(p_results);
    END LOOP;
    RETURN v_all;
END
$end$;

COMMENT ON FUNCTION {function} IS
'Of the family {code}: returns the tasks whose claim it has ended, as _end_claims says.';
$template$;
END
$end_template$;

COMMENT ON FUNCTION omd_dispatch._end_template IS
'Returns the template of the function of a family that ends claims. '
'Locks: none.';
