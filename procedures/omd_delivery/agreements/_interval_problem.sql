-- A text of JSON becomes an interval only by a cast, which raises.

CREATE OR REPLACE FUNCTION omd_delivery._interval_problem(
    p_interval jsonb
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $interval_problem$
DECLARE
    v_interval interval;
BEGIN
    IF p_interval IS NULL OR jsonb_typeof(p_interval) <> 'string' THEN
        RETURN 'it must be an interval, like "5 minutes"';
    END IF;
    v_interval := (p_interval #>> '{}')::interval;
    IF v_interval < interval '0' THEN
        RETURN 'it must not be negative';
    ELSIF v_interval > interval '366 days' THEN
        RETURN 'it must not be longer than 366 days';
    END IF;
    RETURN NULL;
EXCEPTION
    WHEN data_exception THEN
        RETURN 'it must be an interval, like "5 minutes"';
END
$interval_problem$;

COMMENT ON FUNCTION omd_delivery._interval_problem IS
'Returns why p_interval is no interval that can be agreed; NULL: it is one. Locks: none.';
