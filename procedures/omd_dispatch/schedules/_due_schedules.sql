-- Those that have fired last come last, so that one with a long way to catch up, or one that ends
-- each session that reads its source, keeps nobody.

CREATE OR REPLACE FUNCTION omd_dispatch._due_schedules(
    p_limit integer
)
RETURNS text[]
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        coalesce(
            array_agg(d.schedule_code ORDER BY d.last_fired_at NULLS FIRST, d.next_time),
            '{}'::text[]
        )
    FROM (
        SELECT
            s.schedule_code,
            s.last_fired_at,
            s.next_time
        FROM omd_dispatch.task_schedule AS s
        -- As a subquery it is taken once, and can be looked up in the index.
        WHERE
            s.next_time <= (SELECT clock_timestamp())
            AND omd_dispatch._may_fire(s, clock_timestamp())
        ORDER BY s.last_fired_at NULLS FIRST, s.next_time
        LIMIT p_limit
    ) AS d;
END;

COMMENT ON FUNCTION omd_dispatch._due_schedules IS
'Returns up to p_limit schedules that are due, in the order in which to fire them. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._due_schedules TO omd_runner, omd_admin;
