-- This is the first step of a purge: what has ended is noted before it goes. Who is at it already
-- is waited for.

CREATE OR REPLACE FUNCTION omd._prepare_purge(
    p_before timestamptz,
    p_limit integer,
    INOUT p_last_id bigint,
    INOUT p_deleted bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $prepare_purge$
DECLARE
    v_routine text;
    v_noted bigint;
    v_all bigint := 0::bigint;
BEGIN
    FOR v_routine IN SELECT h.routine FROM omd.room_hooks('BEFORE_PURGE') AS h LOOP
        EXECUTE format('SELECT %s()', v_routine) INTO v_noted;
        v_all := v_all + v_noted;
    END LOOP;
    p_last_id := coalesce(p_last_id, 0) + 1;
    p_deleted := coalesce(p_deleted, 0);
    IF v_all IS NULL THEN
        PERFORM pg_sleep(0.05);
    ELSIF v_all = 0 THEN
        p_last_id := NULL;
    END IF;
END
$prepare_purge$;

COMMENT ON FUNCTION omd._prepare_purge IS
'Lets the rooms that follow the instances take note of what has ended; p_last_id is NULL when '
'nothing is left. The other arguments are those of each step, and not used. Locks: those of the '
'rooms.';
GRANT EXECUTE ON FUNCTION omd._prepare_purge TO omd_admin;
