-- Of a Module of another kind its room knows what it reads.

CREATE OR REPLACE FUNCTION omd_provenance.unknown_modules()
RETURNS TABLE (module_id integer)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT u.module_id FROM omd.unknown_inputs AS u;
END;

COMMENT ON FUNCTION omd_provenance.unknown_modules IS
'For rooms: returns the Modules of which nobody knows what they read: kind SQL or JOB, nothing '
'declared, looked up or recorded. Locks: none.';
