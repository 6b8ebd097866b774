-- A count is a whole number and not negative.

CREATE OR REPLACE FUNCTION omd_delivery._is_count(
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

COMMENT ON FUNCTION omd_delivery._is_count IS
'Returns whether p_value is a number of rows. Locks: none.';
REVOKE ALL ON FUNCTION omd_delivery._is_count FROM PUBLIC;
