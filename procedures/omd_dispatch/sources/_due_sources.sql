-- Those that have failed come last, so that one that hangs keeps nobody.

CREATE OR REPLACE FUNCTION omd_dispatch._due_sources(
    p_asked_at timestamptz
)
RETURNS omd_dispatch.task_source[]
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        coalesce(
            array_agg(s ORDER BY s.attempt > 0, s.last_fired_at NULLS FIRST),
            '{}'::omd_dispatch.task_source[]
        )
    FROM omd_dispatch.task_source AS s
    WHERE omd_dispatch._source_is_due(s, p_asked_at, clock_timestamp());
END;

COMMENT ON FUNCTION omd_dispatch._due_sources IS
'Returns the sources that are to be read now, for news of p_asked_at, in that order. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._due_sources TO omd_runner, omd_admin;
