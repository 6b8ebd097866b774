-- People name a change by its number. The room of the source knows when it was, and that it may be
-- one of another source.

CREATE OR REPLACE FUNCTION omd.block_upto(
    p_source_code text,
    p_id bigint
)
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $block_upto$
DECLARE
    v_source record;
    v_pos timestamptz;
    v_id bigint;
BEGIN
    SELECT s.pos, s.id, h.routine AS next_routine, a.routine AS at_routine INTO v_source
    FROM omd.source AS s
    LEFT JOIN omd.room_hook AS h
        ON h.hook = 'NEXT_POSITION' AND s.source_kind_code = h.for_code
    LEFT JOIN omd.room_hook AS a
        ON a.hook = 'POSITION_AT' AND s.source_kind_code = a.for_code
    WHERE s.source_code = p_source_code;
    IF p_id >= v_source.id OR v_source.next_routine IS NULL OR v_source.at_routine IS NULL THEN
        RETURN CASE WHEN p_id = v_source.id THEN v_source.pos END;
    END IF;
    EXECUTE format('SELECT %s($1, $2, $3)', v_source.next_routine)
    INTO v_pos
    USING p_source_code, '-infinity'::timestamptz, p_id - 1;
    EXECUTE format('SELECT %s($1, $2)', v_source.at_routine)
    INTO v_id
    USING p_source_code, v_pos;
    RETURN CASE WHEN v_id = p_id THEN v_pos ELSE v_pos - interval '1 microsecond' END;
END
$block_upto$;

COMMENT ON FUNCTION omd.block_upto IS
'For rooms: Returns a time up to which the positions of the source p_source_code are those whose '
'number is at most p_id; NULL where the newest one has a smaller number, or the kind of the source '
'has no blocks. Locks: none.';
