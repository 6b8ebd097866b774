-- A source is read with the rights of the worker that calls, since anybody may have written its
-- view. A schedule that fails says why, and moves on; one that waits for somebody who holds its key
-- is tried again in the next round.

CREATE OR REPLACE FUNCTION omd_dispatch._fire_schedules(
    p_limit integer
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
SET lock_timeout = '100ms'
AS $fire_schedules$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_schedule omd_dispatch.task_schedule;
    v_at timestamptz;
    v_occurrences timestamptz[];
    v_tasks jsonb;
    v_answer record;
    v_created bigint;
    v_skipped bigint;
    v_problem text;
    v_fired bigint := 0::bigint;
    v_next timestamptz;
BEGIN
    FOR v_schedule IN
        SELECT s.* FROM omd_dispatch._lock_due_schedules(v_now, p_limit) AS s
    LOOP
        v_created := 0;
        v_skipped := 0;
        v_problem := NULL;
        v_at := v_now;
        IF NOT isfinite(v_schedule.next_time) THEN
            v_schedule.next_time := v_now;
        END IF;
        BEGIN
            IF v_schedule.inactive_indicator = 'N' THEN
                v_occurrences := ARRAY(
                    SELECT o FROM omd_dispatch._due_occurrences(v_schedule, v_now) AS o
                );
                IF v_occurrences <> '{}' THEN
                    IF v_schedule.source IS NULL THEN
                        v_tasks := jsonb_build_array(
                            jsonb_build_object('criteria', v_schedule.criteria)
                        );
                    ELSE
                        EXECUTE format(
                            'SELECT coalesce(jsonb_agg(jsonb_build_object(''criteria'', $1'
                            ' || (SELECT coalesce(jsonb_object_agg(upper(c.key), c.value), ''{}'')'
                            ' FROM jsonb_each(to_jsonb(s) - ''payload'' - ''priority'') AS c))'
                            ' || (SELECT coalesce(jsonb_object_agg(c.key, c.value), ''{}'')'
                            ' FROM jsonb_each(to_jsonb(s)) AS c WHERE c.value <> ''null'''
                            ' AND c.key IN (''payload'', ''priority''))), ''[]'') FROM %s AS s',
                            omd.quote_table(v_schedule.source, 'POSTGRES')
                        )
                        INTO v_tasks
                        USING v_schedule.criteria;
                    END IF;
                    SELECT coalesce(
                        jsonb_agg(
                            jsonb_build_object(
                                'payload', v_schedule.payload, 'priority', v_schedule.priority
                            )
                            || t.task || jsonb_build_object('execution_time', o.at)
                            ORDER BY o.n, t.n
                        ),
                        '[]'
                    )
                    INTO v_tasks
                    FROM unnest(v_occurrences) WITH ORDINALITY AS o (at, n)
                    CROSS JOIN jsonb_array_elements(v_tasks) WITH ORDINALITY AS t (task, n);
                    v_answer := omd_dispatch._insert_tasks(
                        v_schedule.family_code, v_schedule.task_type, v_tasks, 'EXISTING',
                        v_schedule.schedule_code
                    );
                    v_created := v_answer.p_created;
                    v_skipped := jsonb_array_length(v_tasks) - v_created;
                    IF v_schedule.missed = 'ALL' THEN
                        v_at := v_occurrences[cardinality(v_occurrences)];
                    END IF;
                END IF;
            END IF;
        EXCEPTION
            WHEN lock_not_available THEN
                PERFORM omd_dispatch._move_schedule(
                    v_schedule.schedule_code, v_schedule.next_time, 0::bigint, 0::bigint,
                    format('%s: %s', sqlstate, sqlerrm)
                );
                CONTINUE;
            WHEN OTHERS THEN
                v_created := 0;
                v_skipped := 0;
                v_problem := format('%s: %s', sqlstate, sqlerrm);
                v_at := v_now;
        END;
        v_fired := v_fired + v_created;
        BEGIN
            v_next := omd_dispatch._next_occurrence(v_schedule, v_at);
        EXCEPTION
            WHEN SQLSTATE 'OM013' THEN
                v_next := v_now + interval '1 year';
                v_problem := sqlerrm;
        END;
        PERFORM omd_dispatch._move_schedule(
            v_schedule.schedule_code, v_next, v_created, v_skipped, v_problem
        );
    END LOOP;
    RETURN v_fired;
END
$fire_schedules$;

COMMENT ON FUNCTION omd_dispatch._fire_schedules IS
'Creates the tasks of up to p_limit schedules that are due, moves them on, and returns how many '
'tasks there are. An error of one is kept in its problem. Locks: the schedules; the keys of the '
'tasks.';
REVOKE ALL ON FUNCTION omd_dispatch._fire_schedules FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_dispatch._fire_schedules TO omd_runner, omd_admin;
