-- PostgreSQL converts by any POSIX string, as 'FOO+3', and by abbreviations: the former count to
-- the west, and the latter know no summer time. pg_timezone_names reads some six hundred files,
-- which takes 8 ms and more; but what has a slash and no digit is neither, so that its own file
-- tells. Only registration asks, so nothing that runs has to wait.

CREATE OR REPLACE FUNCTION omd.is_time_zone(
    p_time_zone text
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $is_time_zone$
BEGIN
    IF upper(p_time_zone) = 'UTC' OR p_time_zone ~ '^[A-Za-z_]+(/[A-Za-z_-]+)+$' THEN
        PERFORM '2000-01-01 00:00:00+00'::timestamptz AT TIME ZONE p_time_zone;
        RETURN TRUE;
    END IF;
    RETURN EXISTS (
        SELECT FROM pg_timezone_names AS z WHERE lower(z.name) = lower(p_time_zone)
    );
EXCEPTION
    WHEN invalid_parameter_value THEN
        RETURN FALSE;
END
$is_time_zone$;

COMMENT ON FUNCTION omd.is_time_zone IS
'For rooms: Returns whether p_time_zone is the name of a time zone, in any case; an abbreviation '
'or a POSIX string is none. Locks: none.';
