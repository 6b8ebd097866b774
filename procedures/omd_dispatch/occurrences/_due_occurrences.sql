-- After a long stop a schedule may have missed millions of occurrences. The newest one is looked
-- for backwards from now, in spans that double.

CREATE OR REPLACE FUNCTION omd_dispatch._due_occurrences(
    p_schedule omd_dispatch.task_schedule,
    p_now timestamptz
)
RETURNS SETOF timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $due_occurrences$
DECLARE
    v_at timestamptz := p_schedule.next_time;
    v_span interval := interval '1 minute';
    v_count integer := 0;
    -- What has failed is not missed.
    v_failed timestamptz := CASE WHEN p_schedule.attempt > 0 THEN p_schedule.next_time END;
BEGIN
    IF p_schedule.missed = 'ALL' THEN
        WHILE v_at <= p_now AND v_count < 1000 LOOP
            RETURN NEXT v_at;
            v_at := omd_dispatch._next_occurrence(p_schedule, v_at);
            v_count := v_count + 1;
        END LOOP;
        RETURN;
    END IF;
    LOOP
        v_at := CASE
            WHEN p_now - v_span <= p_schedule.next_time THEN p_schedule.next_time
            ELSE omd_dispatch._next_occurrence(p_schedule, p_now - v_span)
        END;
        EXIT WHEN v_at <= p_now;
        v_span := v_span * 2;
    END LOOP;
    LOOP
        p_schedule.next_time := v_at;
        v_at := omd_dispatch._next_occurrence(p_schedule, v_at);
        EXIT WHEN v_at > p_now;
    END LOOP;
    IF p_schedule.missed = 'ONCE'
        OR p_schedule.next_time >= p_now - interval '1 minute'
        OR p_schedule.next_time = v_failed
    THEN
        RETURN NEXT p_schedule.next_time;
    END IF;
END
$due_occurrences$;

COMMENT ON FUNCTION omd_dispatch._due_occurrences IS
'Returns the occurrences of p_schedule, from its next_time to p_now, that give a task: all of them,'
' the first 1,000 (ALL), the newest (ONCE), or the newest if it is not older than a minute, or is '
'tried again (SKIP). Errors: OM013: cron does not occur within 10 years. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._due_occurrences TO omd_runner, omd_admin;
