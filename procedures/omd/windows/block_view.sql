-- What a block of a source is read from is for its room to say.

CREATE OR REPLACE FUNCTION omd.block_view(
    p_table_code text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $block_view$
DECLARE
    v_routine text;
    v_view text;
BEGIN
    SELECT h.routine INTO v_routine
    FROM omd.source_table AS t
    INNER JOIN omd.source AS s USING (source_code)
    INNER JOIN omd.room_hook AS h
        ON h.hook = 'BLOCK_VIEW' AND s.source_kind_code = h.for_code
    WHERE t.table_code = p_table_code;
    IF FOUND THEN
        EXECUTE format('SELECT %s($1)', v_routine) INTO v_view USING p_table_code;
    END IF;
    RETURN coalesce(v_view, p_table_code);
END
$block_view$;

COMMENT ON FUNCTION omd.block_view IS
'For rooms: Returns the view or table by which a block of the table or view p_table_code is read: '
'itself, unless its room says another one. Errors: those of the room where a block of it can''t be '
'read. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.block_view TO omd_runner;
