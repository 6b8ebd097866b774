-- This is the only comparison of counts with thresholds.

CREATE OR REPLACE FUNCTION omd_delivery._exceeds(
    p_rows bigint,
    p_base bigint,
    p_number bigint,
    p_percent numeric
)
RETURNS boolean
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $exceeds$
BEGIN
    RETURN coalesce(p_rows > p_number, FALSE)
        OR coalesce(p_rows::numeric * 100 > p_percent * p_base, FALSE);
END
$exceeds$;

COMMENT ON FUNCTION omd_delivery._exceeds IS
'Returns whether p_rows are more than p_number, or more than p_percent of p_base; NULL sets no '
'limit. Locks: none.';
