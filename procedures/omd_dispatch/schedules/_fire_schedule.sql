-- Whatever the code of a source does is an error of this schedule: a failed ASSERT and a cancelled
-- statement too, which OTHERS leaves out. What it has set for the session goes with the block.

CREATE OR REPLACE FUNCTION omd_dispatch._fire_schedule(
    p_schedule omd_dispatch.task_schedule,
    p_limit integer,
    OUT p_created bigint,
    OUT p_skipped bigint,
    OUT p_is_cancelled boolean
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
SET lock_timeout = '100ms'
AS $fire_schedule$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_at timestamptz := v_now;
    v_next timestamptz;
    v_retry timestamptz;
    v_occurrences timestamptz[] := '{}'::timestamptz[];
    v_is_rest boolean := FALSE; -- its tasks are what former rounds have left
    v_is_left boolean := FALSE; -- and others are left for the next ones
    v_tasks jsonb;
    v_rest jsonb;
    v_answer record;
    v_sqlstate text;
    v_problem text;
BEGIN
    p_created := 0;
    p_skipped := 0;
    p_is_cancelled := FALSE;
    IF NOT isfinite(p_schedule.next_time) THEN
        p_schedule.next_time := v_now;
    END IF;
    IF p_schedule.moved_time IS DISTINCT FROM p_schedule.next_time THEN
        p_schedule.anchor_time := p_schedule.next_time;
    END IF;
    IF p_schedule.inactive_indicator = 'N' THEN
        BEGIN
            v_occurrences := ARRAY(
                SELECT o FROM omd_dispatch._due_occurrences(p_schedule, v_now) AS o
            );
        EXCEPTION
            WHEN SQLSTATE 'OM013' THEN
                v_occurrences := '{}'; -- the next occurrence tells it
        END;
        -- All occurrences give a task with ALL, so none is lost.
        IF p_schedule.attempt > 0 AND p_schedule.missed <> 'ALL'
            AND (v_occurrences = '{}' OR v_occurrences[1] > p_schedule.next_time)
        THEN
            PERFORM omd_dispatch._lose_occurrence(
                p_schedule.schedule_code, p_schedule.next_time, p_schedule.attempt,
                p_schedule.problem
            );
            p_schedule.attempt := 0;
        END IF;
    ELSE
        PERFORM omd_dispatch._lose_occurrence(p_schedule.schedule_code, v_now, 0, NULL);
    END IF;

    BEGIN
        IF p_schedule.inactive_indicator = 'N' THEN
            SELECT r.p_tasks, r.p_is_left INTO v_tasks, v_is_left
            FROM omd_dispatch._take_rest(p_schedule.schedule_code, p_limit) AS r;
            v_is_rest := v_tasks IS NOT NULL;
        END IF;
        IF NOT v_is_rest AND v_occurrences <> '{}' THEN
            IF p_schedule.source IS NULL THEN
                v_tasks := jsonb_build_array(jsonb_build_object('criteria', p_schedule.criteria));
            ELSE
                v_tasks := omd_dispatch._read_source(p_schedule.source, p_schedule.criteria);
            END IF;
            IF v_tasks <> '[]' THEN
                v_occurrences := v_occurrences[
                    1:greatest(1, p_limit / jsonb_array_length(v_tasks))
                ];
            END IF;
            SELECT
                coalesce(jsonb_agg(t.task ORDER BY t.n) FILTER (WHERE t.n <= p_limit), '[]'),
                jsonb_agg(t.task ORDER BY t.n) FILTER (WHERE t.n > p_limit)
            INTO v_tasks, v_rest
            FROM (
                SELECT
                    jsonb_build_object(
                        'payload', p_schedule.payload, 'priority', p_schedule.priority
                    )
                    || r.task || jsonb_build_object('execution_time', o.at) AS task,
                    row_number() OVER (ORDER BY o.n, r.n) AS n
                FROM unnest(v_occurrences) WITH ORDINALITY AS o (at, n)
                CROSS JOIN jsonb_array_elements(v_tasks) WITH ORDINALITY AS r (task, n)
            ) AS t;
            IF v_rest IS NOT NULL THEN
                PERFORM omd_dispatch._keep_rest(p_schedule.schedule_code, v_rest);
                v_is_left := TRUE;
            END IF;
        END IF;
        IF v_tasks <> '[]' THEN
            v_answer := omd_dispatch._insert_tasks(
                p_schedule.family_code, p_schedule.task_type, v_tasks, 'EXISTING',
                p_schedule.schedule_code
            );
            p_created := v_answer.p_created;
            p_skipped := jsonb_array_length(v_tasks) - p_created;
        END IF;
    EXCEPTION
        WHEN query_canceled OR assert_failure OR OTHERS THEN
            v_sqlstate := sqlstate;
            v_problem := format('%s: %s', sqlstate, left(sqlerrm, 2000));
            p_is_cancelled := sqlstate = '57014';
    END;

    -- What is inactive only moves on, past all that it has missed.
    IF v_is_rest OR (p_schedule.missed = 'ALL' AND p_schedule.inactive_indicator = 'N') THEN
        v_at := p_schedule.next_time;
    END IF;
    IF v_sqlstate IS NULL THEN
        p_schedule.attempt := 0;
    ELSE
        p_schedule.attempt := p_schedule.attempt + 1;
        v_retry := v_now + omd_dispatch._backoff(p_schedule.attempt);
    END IF;
    BEGIN
        CASE
            WHEN v_sqlstate IS NOT NULL AND NOT v_is_rest AND p_schedule.missed <> 'ALL' THEN
                -- The occurrence that has failed is tried again until the next one is due.
                v_retry := least(v_retry, omd_dispatch._next_occurrence(p_schedule, v_now));
                v_next := v_occurrences[1];
            WHEN v_sqlstate IS NOT NULL OR (v_is_rest AND v_is_left) THEN
                v_next := p_schedule.next_time;
            WHEN v_is_left THEN
                v_next := v_occurrences[1];
            WHEN v_is_rest OR p_schedule.missed <> 'ALL' OR v_occurrences = '{}' THEN
                v_next := omd_dispatch._next_occurrence(p_schedule, v_at);
            ELSE
                v_next := omd_dispatch._next_occurrence(
                    p_schedule, v_occurrences[cardinality(v_occurrences)]
                );
        END CASE;
    EXCEPTION
        WHEN SQLSTATE 'OM013' THEN
            v_next := v_now + interval '1 year';
            v_problem := format('%s: %s', sqlstate, sqlerrm);
            p_schedule.attempt := 0;
            v_retry := NULL;
    END;
    IF v_sqlstate = '55P03' AND p_schedule.attempt = 1 THEN
        v_retry := NULL; -- who holds the key has gone, perhaps, when the next round comes
    END IF;
    IF v_problem IS NULL AND NOT v_is_rest AND v_occurrences <> '{}' THEN
        PERFORM omd_dispatch._note_recovery(p_schedule.schedule_code);
    END IF;
    PERFORM omd_dispatch._end_firing(
        p_schedule.schedule_code, v_next, p_schedule.anchor_time, p_schedule.attempt, v_retry,
        p_created, p_skipped, v_problem
    );
END
$fire_schedule$;

COMMENT ON FUNCTION omd_dispatch._fire_schedule IS
'Creates tasks of p_schedule, which the caller has locked, p_limit at most, moves it on, and '
'returns how many tasks were created and skipped, and whether its source was cancelled. An error is'
' kept in its problem. Locks: the keys of the tasks.';
GRANT EXECUTE ON FUNCTION omd_dispatch._fire_schedule TO omd_runner, omd_admin;
