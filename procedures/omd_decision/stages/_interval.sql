-- A document is checked as a whole, so a text that is no interval must not end the check.

CREATE OR REPLACE FUNCTION omd_decision._interval(
    p_text text
)
RETURNS interval
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $interval$
BEGIN
    RETURN CASE WHEN isfinite(p_text::interval) THEN p_text::interval END;
EXCEPTION
    WHEN data_exception THEN
        RETURN NULL;
END
$interval$;

COMMENT ON FUNCTION omd_decision._interval IS
'Returns the interval that p_text says; NULL when it says none, or an infinite one. Locks: none.';
