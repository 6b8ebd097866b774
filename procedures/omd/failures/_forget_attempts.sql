-- What a room counts of a Module beside its failures, and the names that it has for Modules, it
-- knows itself. Its routine is in a row that it has entered when it was installed.

CREATE OR REPLACE FUNCTION omd._forget_attempts(
    p_module_id integer,
    p_name text,
    OUT p_its_module_id integer,
    OUT p_was boolean
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $forget_attempts$
DECLARE
    v_routine text;
BEGIN
    FOR v_routine IN
        SELECT h.routine
        FROM omd.room_hook AS h
        LEFT JOIN omd.module AS m ON m.module_id = p_module_id
        WHERE h.hook = 'FORGET_ATTEMPTS'
            AND p_name IS NOT NULL
            AND (p_module_id IS NULL OR m.module_kind_code = h.for_code)
        ORDER BY h.position, h.room, h.for_code
    LOOP
        EXECUTE format('SELECT r.p_its_module_id, r.p_was FROM %s($1, $2) AS r', v_routine)
        INTO p_its_module_id, p_was
        USING p_module_id, p_name;
        EXIT WHEN p_its_module_id IS NOT NULL;
    END LOOP;
    p_was := coalesce(p_was, FALSE);
END
$forget_attempts$;

COMMENT ON FUNCTION omd._forget_attempts IS
'Asks the room of the Module p_module_id (NULL: all rooms, which has one that it names p_name) to '
'forget what it counts of it. Returns p_its_module_id, the Module, NULL where no room counts '
'anything, and p_was, whether there was anything. Errors: OM208: the topic is a source. Locks: '
'those of the room.';
