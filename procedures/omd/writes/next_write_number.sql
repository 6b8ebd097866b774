-- The number comes from a sequence, so it is unique without a lock.

CREATE OR REPLACE FUNCTION omd.next_write_number()
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $next_write_number$
BEGIN
    IF EXISTS (SELECT FROM omd.unready_for_id()) THEN
        PERFORM omd.get_ready_for_id();
    END IF;
    RETURN nextval('omd.write_number');
END
$next_write_number$;

COMMENT ON FUNCTION omd.next_write_number IS
'For programs: '
'Returns a number for record_write that no other write has. Call it once per write, before its '
'partitions. Locks: none. Call again when the answer was lost.';
GRANT EXECUTE ON FUNCTION omd.next_write_number TO omd_runner;
