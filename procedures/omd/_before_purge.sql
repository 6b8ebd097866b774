-- Called by omd.purge_history, which commits between the calls.

CREATE OR REPLACE FUNCTION omd._before_purge()
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $before_purge$
DECLARE
    v_listener omd.before_purge;
    v_noted bigint;
    v_all bigint := 0::bigint;
BEGIN
    FOR v_listener IN SELECT p.* FROM omd.before_purge AS p ORDER BY p.schema_name LOOP
        EXECUTE format('SELECT %I.%I()', v_listener.schema_name, v_listener.before_routine)
        INTO v_noted;
        v_all := v_all + v_noted;
    END LOOP;
    RETURN v_all;
END
$before_purge$;

COMMENT ON FUNCTION omd._before_purge IS
'Lets the rooms that follow the instances take note of what has ended, and returns of how much '
'they did; 0: nothing is left; NULL: another session is at it. Locks: those of the rooms.';
REVOKE ALL ON FUNCTION omd._before_purge FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._before_purge TO omd_admin;
