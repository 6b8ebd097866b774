-- A count is a whole number and not negative; a sum of several fits into a bigint.

CREATE OR REPLACE FUNCTION omd.is_count(
    p_value jsonb
)
RETURNS boolean
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $is_count$
BEGIN
    RETURN coalesce(
        jsonb_typeof(p_value) = 'number' AND p_value::text ~ '^[0-9]{1,18}$', FALSE
    );
END
$is_count$;

COMMENT ON FUNCTION omd.is_count IS
'For rooms: Returns whether p_value is a number of rows, of at most 18 digits. Locks: none.';
