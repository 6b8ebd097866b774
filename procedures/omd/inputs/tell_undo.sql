-- Whoever has read the rows keeps what he has made of them. Rooms that know readers have entered a
-- function into omd.room_hook. What is reported stays as a problem of the source until the runs
-- that read are gone.

CREATE OR REPLACE FUNCTION omd.tell_undo(
    p_table_array text[],
    p_from timestamptz,
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $tell_undo$
DECLARE
    -- Runs that get a later id begin when this is done.
    v_last_id CONSTANT bigint := pg_sequence_last_value(
        pg_get_serial_sequence('omd.module_instance', 'module_instance_id')::regclass
    );
    v_routine text;
    v_table text;
    v_first_id bigint;
    v_undone record;
    v_text text;
BEGIN
    DELETE FROM omd.undone_read AS u
    WHERE NOT EXISTS (
        SELECT FROM omd.standing_read AS s WHERE s.undone_read_id = u.undone_read_id
    );
    SELECT coalesce(max(u.undone_read_id), 0) INTO v_first_id FROM omd.undone_read AS u;
    FOR v_routine, v_table IN
        SELECT h.routine, t.table_code
        FROM omd.room_hook AS h
        CROSS JOIN unnest(p_table_array) AS t (table_code)
        WHERE h.hook = 'HEAR_UNDO'
        ORDER BY h.position, h.room, t.table_code
    LOOP
        EXECUTE format(
            'INSERT INTO omd.undone_read (undone_instance_id, last_instance_id, noted_at,'
            ' from_datetime, module_id, is_whole, has_positions, table_code, source_code, reader,'
            ' way_out)'
            ' SELECT $3, $4, clock_timestamp(), $2, r.module_id, r.is_whole, r.has_positions, $1,'
            ' r.source_code, r.reader, r.way_out FROM %s($1, $2, $3) AS r'
            ' WHERE NOT EXISTS (SELECT FROM omd.undone_read AS u WHERE u.undone_read_id > $5'
            ' AND u.module_id = r.module_id AND u.source_code = r.source_code)',
            v_routine
        )
        USING v_table, p_from, p_module_instance_id, v_last_id, v_first_id;
    END LOOP;
    SELECT
        string_agg(DISTINCT u.source_code, ', ' ORDER BY u.source_code) AS sources,
        string_agg(DISTINCT u.reader, ', ' ORDER BY u.reader) AS readers,
        string_agg(DISTINCT u.way_out, ' ' ORDER BY u.way_out) AS ways_out
    INTO v_undone
    FROM omd.undone_read AS u
    WHERE u.undone_read_id > v_first_id;
    IF v_undone.readers IS NULL THEN
        RETURN;
    END IF;
    v_text := format(
        'rows of %s%s are undone that %s read',
        v_undone.sources, coalesce(' from ' || p_from || ' on', ''), v_undone.readers
    );
    PERFORM omd.write_event(
        p_module_instance_id, 0, 4, 'READERS', format('%s. %s', v_text, v_undone.ways_out)
    );
    RAISE WARNING USING MESSAGE = 'READERS: ' || v_text, HINT = v_undone.ways_out;
END
$tell_undo$;

COMMENT ON FUNCTION omd.tell_undo IS
'For rooms: Tells the readers of the tables p_table_array that rows from the position p_from on '
'(NULL: all) were undone, the oldest of them of the Module Instance p_module_instance_id: by a '
'warning and an event READERS, which name them and the calls that make their rows again, and by '
'omd.standing_read. Call it when the rows are gone, in their transaction. Locks: none.';
