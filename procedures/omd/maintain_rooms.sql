-- A routine of a room that fails stops nobody else; it comes again when it is due.

CREATE OR REPLACE FUNCTION omd.maintain_rooms()
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $maintain_rooms$
DECLARE
    v_routine text := omd._claim_maintenance();
BEGIN
    IF v_routine IS NOT NULL THEN
        BEGIN
            EXECUTE format('SELECT %s()', v_routine);
        EXCEPTION
            WHEN OTHERS THEN
                RAISE WARNING USING MESSAGE = format('%s failed: %s', v_routine, SQLERRM);
        END;
    END IF;
    RETURN v_routine;
END
$maintain_rooms$;

COMMENT ON FUNCTION omd.maintain_rooms IS
'For rooms: calls the routine of omd.maintenance that is due, and returns its name; NULL: none is. '
'Locks: what that takes.';
REVOKE ALL ON FUNCTION omd.maintain_rooms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.maintain_rooms TO omd_runner, omd_admin;
