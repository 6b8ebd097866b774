-- The block travels in settings, so that one view serves several topics. Their names must not
-- change: a step that runs while OMD is upgraded has already set them.

CREATE OR REPLACE PROCEDURE omd_lineage._write_block(
    p_topic text,
    p_start_position omd_lineage.row_position,
    p_end_position omd_lineage.row_position,
    p_is_local boolean DEFAULT TRUE
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $write_block$
BEGIN
    IF p_topic IS NULL OR p_is_local IS NULL THEN
        PERFORM omd.raise_error(
            'OM005',
            jsonb_build_object(
                'argument', CASE WHEN p_topic IS NULL THEN 'p_topic' ELSE 'p_is_local' END
            )
        );
    END IF;
    PERFORM
        set_config('omd_lineage.topic', p_topic, p_is_local),
        set_config('omd_lineage.start_ts', coalesce(p_start_position.pos::text, ''), p_is_local),
        set_config('omd_lineage.start_id', coalesce(p_start_position.id::text, ''), p_is_local),
        set_config('omd_lineage.end_ts', coalesce(p_end_position.pos::text, ''), p_is_local),
        set_config('omd_lineage.end_id', coalesce(p_end_position.id::text, ''), p_is_local);
END
$write_block$;

COMMENT ON PROCEDURE omd_lineage._write_block IS
'Sets the block (p_start_position, p_end_position] that in_block, block_start and block_end use, '
'and the setting omd_lineage.topic to p_topic: until the transaction ends when p_is_local is '
'true, else in this session. There is no block when a position is NULL. Errors: OM005: p_topic or '
'p_is_local is NULL. Locks: none.';
REVOKE ALL ON PROCEDURE omd_lineage._write_block FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage._write_block TO omd_runner, omd_admin;
