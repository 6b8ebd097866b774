-- A topic may begin at a time and not at a number. Only the room knows which number it was.

CREATE OR REPLACE FUNCTION omd.block_routine(
    p_source_code text,
    p_start_pos timestamptz,
    p_start_id bigint,
    OUT p_routine text,
    OUT p_after_id bigint
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $block_routine$
DECLARE
    v_position_routine text;
BEGIN
    SELECT h.routine, a.routine INTO p_routine, v_position_routine
    FROM omd.source AS s
    LEFT JOIN omd.room_hook AS h
        ON h.hook = 'SHOW_BLOCK' AND s.source_kind_code = h.for_code
    LEFT JOIN omd.room_hook AS a
        ON a.hook = 'POSITION_AT' AND s.source_kind_code = a.for_code
    WHERE s.source_code = p_source_code;
    IF p_start_id > -9223372036854775808 THEN
        p_after_id := p_start_id;
    ELSIF p_start_pos > '-infinity' AND v_position_routine IS NOT NULL THEN
        EXECUTE format('SELECT %s($1, $2)', v_position_routine)
        INTO p_after_id
        USING p_source_code, p_start_pos;
    END IF;
    p_after_id := coalesce(p_after_id, 0);
END
$block_routine$;

COMMENT ON FUNCTION omd.block_routine IS
'For rooms: Returns p_routine, which lets the views of the source p_source_code show a block '
'(NULL: they need no call), and p_after_id, the number that the block behind p_start_pos and '
'p_start_id begins after; 0: it begins at the beginning. Locks: none.';
