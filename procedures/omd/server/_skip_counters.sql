-- What is counted in a table and not by a sequence is set back by a rollback, so it is done again.

CREATE OR REPLACE FUNCTION omd._skip_counters(
    p_count bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $skip_counters$
DECLARE
    v_routine text;
BEGIN
    FOR v_routine IN SELECT h.routine FROM omd.room_hooks('SKIP_COUNTERS') AS h LOOP
        EXECUTE format('SELECT %s($1)', v_routine) USING p_count;
    END LOOP;
END
$skip_counters$;

COMMENT ON FUNCTION omd._skip_counters IS
'Lets each room pass over p_count of the numbers that it counts in a table. Locks: those of the '
'rooms.';
