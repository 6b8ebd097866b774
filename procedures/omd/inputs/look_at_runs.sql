-- Whoever takes something back asks before it plans: between two rounds of look_at_inputs a view
-- may have been replaced, and a run may have read by it.

CREATE OR REPLACE FUNCTION omd.look_at_runs()
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $look_at_runs$
BEGIN
    PERFORM omd._look_at_due(NULL);
END
$look_at_runs$;

COMMENT ON FUNCTION omd.look_at_runs IS
'For rooms: looks up, with the rights of the caller, what the Modules read that have run since it '
'was looked up last. Locks: Modules where something is new.';
GRANT EXECUTE ON FUNCTION omd.look_at_runs TO omd_admin;
