-- An open row ends here; the partition of open rows is made for this one value.

CREATE OR REPLACE FUNCTION omd_facts._open_end()
RETURNS timestamptz
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT timestamptz '9999-12-31 00:00:00+00';
END;

COMMENT ON FUNCTION omd_facts._open_end IS
'Returns the acm_end_dt of an open row: 9999-12-31 00:00:00+00. Locks: none.';
