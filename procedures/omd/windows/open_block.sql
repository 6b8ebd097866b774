-- The order is the point: the source is held first, so that nothing of the block is taken back from
-- now on, and the look whether it was taken back before comes after. It shows the block with the
-- rights of the caller, who reads it.

CREATE OR REPLACE PROCEDURE omd.open_block(
    p_source_code text,
    p_start_pos timestamptz,
    p_start_id bigint,
    p_end_id bigint
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $open_block$
BEGIN
    IF NOT (omd.hold_source(p_source_code)).p_is_held THEN
        PERFORM omd.raise_error(
            'OM114',
            jsonb_build_object(
                'source_code', p_source_code,
                'problem', 'rows of it are being taken back, or there is no such source'
            )
        );
    ELSIF NOT omd.block_stands(p_source_code, p_end_id) THEN
        PERFORM omd.raise_error(
            'OM114',
            jsonb_build_object(
                'source_code', p_source_code,
                'problem', 'an undo has reached over its end ' || p_end_id
            )
        );
    END IF;
    CALL omd.show_block(p_source_code, p_start_pos, p_start_id, p_end_id);
END
$open_block$;

COMMENT ON PROCEDURE omd.open_block IS
'For rooms: Holds the source p_source_code until the transaction ends, and lets its views show the '
'block behind p_start_pos and p_start_id up to p_end_id. Errors: OM114: rows of the block are '
'being taken back, or were taken back since it was planned; those of the room. Locks: the source, '
'beside readers and those who add to it. Call it before other locks.';
GRANT EXECUTE ON PROCEDURE omd.open_block TO omd_runner;
