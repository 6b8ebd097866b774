-- The one place that says how many attempts a topic gets. Pure, so that the ready list puts the
-- body into its query.

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
'Whether a topic has failed so often (p_attempts) that it runs no more until omd_lineage.retry. '
'Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage._is_failed FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._is_failed TO omd_reader;
