-- Each firing asks, so this is a conversion, which reads one file. A schedule from before names
-- were required may have a POSIX string, and goes on; omd.is_time_zone is what registration asks.

CREATE OR REPLACE FUNCTION omd_dispatch._is_time_zone(
    p_time_zone text
)
RETURNS boolean
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $is_time_zone$
BEGIN
    PERFORM '2000-01-01 00:00:00+00'::timestamptz AT TIME ZONE p_time_zone;
    RETURN p_time_zone IS NOT NULL;
EXCEPTION
    WHEN invalid_parameter_value THEN
        RETURN FALSE;
END
$is_time_zone$;

COMMENT ON FUNCTION omd_dispatch._is_time_zone IS
'Returns whether PostgreSQL converts times to p_time_zone. Locks: none.';
