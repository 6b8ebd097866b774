-- A source that rests, or that another session reads now, may not have shown the
-- news. One that is read for long, or whose session has ended, is asked for less and less often.

CREATE OR REPLACE FUNCTION omd_dispatch._wait_for_sources(
    p_asked_at timestamptz
)
RETURNS interval
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        min(
            CASE
                WHEN s.is_firing
                    THEN greatest(n.now - s.last_fired_at, interval '100 milliseconds')
                ELSE
                    greatest(
                        omd_dispatch._rests_until(s),
                        CASE WHEN s.last_fired_at >= p_asked_at THEN s.last_fired_at + s.every END,
                        n.now
                    ) - n.now
            END
        )
    FROM omd_dispatch.task_source AS s
    CROSS JOIN (SELECT clock_timestamp() AS now) AS n
    WHERE s.inactive_indicator = 'N';
END;

COMMENT ON FUNCTION omd_dispatch._wait_for_sources IS
'Returns when the next source is to be read, for who has known of news since p_asked_at; NULL: '
'there is none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._wait_for_sources TO omd_runner, omd_admin;
