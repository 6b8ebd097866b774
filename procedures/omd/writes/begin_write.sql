-- A write needs a number of its own and the time that its rows bear. One call answers both, since
-- each round trip to the server is time in which nothing is written.

CREATE OR REPLACE FUNCTION omd.begin_write(
    p_module_instance_id bigint
)
RETURNS TABLE (
    write_number bigint,
    insert_datetime timestamptz
)
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        omd.next_write_number() AS write_number,
        omd.stamp_datetime(p_module_instance_id) AS insert_datetime;
END;

COMMENT ON FUNCTION omd.begin_write IS
'For the driver: '
'One row: what the Module Instance p_module_instance_id needs for one write: its number for '
'record_write, which no other write has, and the time that its rows bear in omd_insert_datetime '
'(stamp_datetime). Call it once per write, before its partitions. Errors: OM004, OM005. Locks: '
'none. Call again when the answer was lost.';
GRANT EXECUTE ON FUNCTION omd.begin_write TO omd_runner;
