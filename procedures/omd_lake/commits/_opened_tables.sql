-- A setting that was never made is NULL, and one whose transaction has ended is empty.

CREATE OR REPLACE FUNCTION omd_lake._opened_tables()
RETURNS text[]
LANGUAGE sql
STABLE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT nullif(current_setting('omd_lake.opened_tables', TRUE), '')::text[];
END;

COMMENT ON FUNCTION omd_lake._opened_tables IS
'Returns the tables that open_commit has opened in this transaction; NULL: none was. Locks: none.';
