-- cron and every are two ways to say the same.

CREATE OR REPLACE FUNCTION omd_dispatch._next_occurrence(
    p_schedule omd_dispatch.task_schedule,
    p_after timestamptz
)
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
AS $next_occurrence$
DECLARE
    v_next timestamptz := p_schedule.next_time;
    v_anchor timestamptz;
    v_steps double precision;
    v_months double precision := (
        extract(YEAR FROM p_schedule.every) * 12 + extract(MONTH FROM p_schedule.every)
    )::double precision;
    v_seconds double precision := extract(EPOCH FROM p_schedule.every)::double precision;
BEGIN
    IF p_schedule.cron IS NOT NULL THEN
        RETURN omd_dispatch.cron_next(p_schedule.cron, p_schedule.time_zone, p_after);
    END IF;
    -- Months have no fixed length. They are counted from one anchor, since a step from the end of a
    -- short month would stay at its day; how many there are is guessed, then corrected.
    IF v_months > 0 THEN
        v_anchor := coalesce(p_schedule.anchor_time, v_next);
        v_steps := greatest(
            floor(
                (
                    (extract(YEAR FROM p_after) - extract(YEAR FROM v_anchor)) * 12
                    + extract(MONTH FROM p_after) - extract(MONTH FROM v_anchor)
                )::double precision / v_months
            ),
            0
        );
        WHILE v_steps > 0 AND v_anchor + p_schedule.every * v_steps > p_after LOOP
            v_steps := v_steps - 1;
        END LOOP;
        WHILE v_anchor + p_schedule.every * v_steps <= p_after LOOP
            v_steps := v_steps + 1;
        END LOOP;
        RETURN v_anchor + p_schedule.every * v_steps;
    END IF;
    -- The rest is one division.
    IF v_next <= p_after THEN
        v_next := v_next
            + p_schedule.every * floor(extract(EPOCH FROM p_after - v_next) / v_seconds);
    END IF;
    WHILE v_next <= p_after LOOP
        v_next := v_next + p_schedule.every;
    END LOOP;
    RETURN v_next;
END
$next_occurrence$;

COMMENT ON FUNCTION omd_dispatch._next_occurrence IS
'Returns the first occurrence of p_schedule after p_after. With every, occurrences count from its '
'next_time, and with months from its anchor_time. Errors: OM013: cron does not occur within 10 '
'years. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._next_occurrence TO omd_runner, omd_admin;
