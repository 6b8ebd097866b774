-- Only the newest position of a source, and the one before it, are kept where everybody reads them.
-- The room that makes the source knows the others. Most readers have read the one before.

CREATE OR REPLACE FUNCTION omd.next_position(
    p_table_code text,
    p_pos timestamptz,
    p_id bigint
)
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $next_position$
DECLARE
    v_source record;
    v_pos timestamptz;
    v_next timestamptz;
BEGIN
    FOR v_source IN
        SELECT s.source_code, s.pos, s.former_pos, s.former_id, h.routine
        FROM omd.source_table AS t
        INNER JOIN omd.source AS s USING (source_code)
        LEFT JOIN omd.room_hook AS h
            ON h.hook = 'NEXT_POSITION' AND s.source_kind_code = h.for_code
        WHERE t.table_code = p_table_code AND (s.pos, s.id) > (p_pos, p_id)
    LOOP
        v_pos := NULL;
        IF v_source.routine IS NOT NULL
            AND (v_source.former_pos, v_source.former_id) > (p_pos, p_id)
        THEN
            EXECUTE format('SELECT %s($1, $2, $3)', v_source.routine)
            INTO v_pos
            USING v_source.source_code, p_pos, p_id;
        END IF;
        v_next := least(v_next, coalesce(v_pos, v_source.pos));
    END LOOP;
    RETURN v_next;
END
$next_position$;

COMMENT ON FUNCTION omd.next_position IS
'For rooms: Returns the time of the oldest position behind p_pos and p_id of the sources by which '
'the table or view p_table_code is read; NULL when nothing is behind them. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.next_position TO omd_reader;
