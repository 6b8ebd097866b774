-- A round is bounded, and whoever comes next goes on with what was looked at longest ago.

CREATE OR REPLACE FUNCTION omd.look_at_inputs()
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $look_at_inputs$
BEGIN
    PERFORM omd.require_maintenance('omd.look_at_inputs');
    PERFORM omd._look_at_due(50);
END
$look_at_inputs$;

COMMENT ON FUNCTION omd.look_at_inputs IS
'For rooms: looks up what Modules read, 50 of them, with the rights of the caller: a view under a '
'declaration may have changed. omd.maintain_rooms calls it. Errors: OM018: another calls it. '
'Locks: Modules where something is new.';
GRANT EXECUTE ON FUNCTION omd.look_at_inputs TO omd_runner, omd_admin;
