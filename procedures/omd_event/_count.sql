-- publish calls it in the transaction that gives the numbers.

CREATE OR REPLACE FUNCTION omd_event._count(
    p_after bigint,
    p_upto bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $count$
BEGIN
    NULL;
END
$count$;

COMMENT ON FUNCTION omd_event._count IS
'Adds the events after the number p_after, up to p_upto, to the counters. Locks: the counters that '
'it raises.';
REVOKE ALL ON FUNCTION omd_event._count FROM PUBLIC;
