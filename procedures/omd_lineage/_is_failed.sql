-- This is the one place that says how many attempts a topic gets. It is a pure expression, so the
-- planner inlines it into the query of the ready list.

CREATE OR REPLACE FUNCTION omd_lineage._is_failed(
    p_attempts integer
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT p_attempts >= 10;
END;

COMMENT ON FUNCTION omd_lineage._is_failed IS
'Returns whether a topic has failed so often (p_attempts) that it runs no more until '
'omd_lineage.retry is called. Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage._is_failed FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._is_failed TO omd_reader;
