-- The clocks of a zone skip local times and repeat them. The offsets of the day before and the day
-- after give the instants that a local time can mean.

CREATE OR REPLACE FUNCTION omd_dispatch._cron_instants(
    p_local timestamp,
    p_time_zone text,
    p_is_each_hour boolean
)
RETURNS SETOF timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
AS $cron_instants$
DECLARE
    v_guess timestamptz := p_local AT TIME ZONE 'UTC';
    v_before interval := ((v_guess - interval '1 day') AT TIME ZONE p_time_zone)
        - ((v_guess - interval '1 day') AT TIME ZONE 'UTC');
    v_after interval := ((v_guess + interval '1 day') AT TIME ZONE p_time_zone)
        - ((v_guess + interval '1 day') AT TIME ZONE 'UTC');
    v_instants timestamptz[];
BEGIN
    v_instants := ARRAY(
        SELECT DISTINCT i
        FROM unnest(ARRAY[v_guess - v_before, v_guess - v_after]) AS i
        WHERE i AT TIME ZONE p_time_zone = p_local
        ORDER BY i
    );
    IF p_is_each_hour THEN
        RETURN QUERY SELECT unnest(v_instants);
    ELSIF v_instants <> '{}' THEN
        RETURN NEXT v_instants[1];
    ELSE
        -- The gap ends where the offset of the day after begins.
        RETURN QUERY
        SELECT i
        FROM generate_series(v_guess - v_after, v_guess - v_before, interval '1 minute') AS i
        WHERE (i AT TIME ZONE p_time_zone) - (i AT TIME ZONE 'UTC') = v_after
        ORDER BY i
        LIMIT 1;
    END IF;
END
$cron_instants$;

COMMENT ON FUNCTION omd_dispatch._cron_instants IS
'Returns the instants at which a schedule for the local time p_local in p_time_zone occurs. With '
'p_is_each_hour a time that does not exist has none, and a repeated one has two; else the former '
'has the end of the gap, and the latter the first one. Locks: none.';
