-- The default is computed, so that a database that is renamed is another namespace. A slash would
-- end it where it is read back (_context_parent).

CREATE OR REPLACE FUNCTION omd_event._job_namespace()
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(s.job_namespace, 'omd.' || replace(current_database(), '/', '_'))
    FROM omd_event.setting AS s;
END;

COMMENT ON FUNCTION omd_event._job_namespace IS
'Returns the namespace of the jobs in OpenLineage. Locks: none.';
