-- A block that ends between a change and its undo would be read otherwise than it was planned.

CREATE OR REPLACE FUNCTION omd.block_stands(
    p_source_code text,
    p_end_id bigint
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $block_stands$
DECLARE
    v_routine text;
    v_stands boolean;
BEGIN
    SELECT h.routine INTO v_routine
    FROM omd.source AS s
    INNER JOIN omd.room_hook AS h
        ON h.hook = 'MAY_END' AND s.source_kind_code = h.for_code
    WHERE s.source_code = p_source_code;
    IF v_routine IS NULL THEN
        RETURN TRUE;
    END IF;
    EXECUTE format('SELECT %s($1, $2)', v_routine) INTO v_stands USING p_source_code, p_end_id;
    RETURN v_stands;
END
$block_stands$;

COMMENT ON FUNCTION omd.block_stands IS
'For rooms: Returns whether a block of the source p_source_code may end at p_end_id, so that no '
'undo has reached over its end. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.block_stands TO omd_runner;
