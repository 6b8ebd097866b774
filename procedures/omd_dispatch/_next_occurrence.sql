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
    v_seconds double precision := extract(EPOCH FROM p_schedule.every)::double precision;
BEGIN
    IF p_schedule.cron IS NOT NULL THEN
        RETURN omd_dispatch.cron_next(p_schedule.cron, p_schedule.time_zone, p_after);
    END IF;
    -- Months have no fixed length, so that many of them are stepped over one by one; the rest is
    -- one division.
    IF v_next <= p_after AND extract(MONTH FROM p_schedule.every) = 0
        AND extract(YEAR FROM p_schedule.every) = 0
    THEN
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
'next_time. Errors: OM013: cron does not occur within 10 years. Locks: none.';
REVOKE ALL ON FUNCTION omd_dispatch._next_occurrence FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_dispatch._next_occurrence TO omd_runner, omd_admin;
