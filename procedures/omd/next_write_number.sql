-- A number for a write, that no other write has.

CREATE OR REPLACE FUNCTION omd.next_write_number()
RETURNS bigint
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT nextval('omd.write_number'::regclass);
END;

COMMENT ON FUNCTION omd.next_write_number IS
'A number for record_write that no other write has. Ask once per write, before its partitions. '
'Locks: none.';
REVOKE ALL ON FUNCTION omd.next_write_number FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.next_write_number TO omd_runner;
