-- A function can't ask whether somebody holds its transaction open, so maintain_rooms asks, and
-- says here what it calls.

CREATE OR REPLACE FUNCTION omd.require_maintenance(
    p_routine text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $require_maintenance$
BEGIN
    IF current_setting('omd.maintenance', TRUE) IS DISTINCT FROM p_routine THEN
        PERFORM omd.raise_error('OM018', jsonb_build_object('routine', p_routine));
    END IF;
END
$require_maintenance$;

COMMENT ON FUNCTION omd.require_maintenance IS
'For rooms: Raises OM018 unless omd.maintain_rooms has called p_routine, which calls this. It '
'holds what others wait for, so it must end with its statement. Errors: OM018. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.require_maintenance TO omd_runner, omd_admin;
