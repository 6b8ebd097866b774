-- A setting that was never made is NULL, and one whose transaction has ended is empty.

CREATE OR REPLACE FUNCTION omd_lake._locked_tables()
RETURNS text[]
LANGUAGE sql
STABLE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT
        coalesce(omd_lake._opened_tables(), '{}')
        || coalesce(nullif(current_setting('omd_lake.locked_tables', TRUE), '')::text[], '{}');
END;

COMMENT ON FUNCTION omd_lake._locked_tables IS
'Returns the tables that open_commit and lock_tables have locked in this transaction: its caller '
'commits to them, or has seen that nothing is to be done. Locks: none.';
