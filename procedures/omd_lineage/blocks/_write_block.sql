-- The block travels in settings, so that one view serves several topics, and as numbers, since a
-- text would be read as DateStyle and TimeZone of the moment say. The names of the settings must
-- not change, and _block_pos reads their former text too: a step that runs while OMD is upgraded
-- has already set them.

CREATE OR REPLACE PROCEDURE omd_lineage._write_block(
    p_topic text,
    p_start_position omd_lineage.row_position,
    p_end_position omd_lineage.row_position
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $write_block$
BEGIN
    IF p_topic IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_topic'));
    END IF;
    PERFORM
        set_config('omd_lineage.topic', p_topic, TRUE),
        set_config(
            'omd_lineage.' || e.name || '_ts',
            coalesce(
                CASE
                    WHEN isfinite(e.pos)
                        THEN trunc(extract(EPOCH FROM e.pos) * 1000000)::text
                    ELSE e.pos::text
                END,
                ''
            ),
            TRUE
        ),
        set_config('omd_lineage.' || e.name || '_id', coalesce(e.id::text, ''), TRUE)
    FROM (
        VALUES
        ('start', p_start_position.pos, p_start_position.id),
        ('end', p_end_position.pos, p_end_position.id)
    ) AS e (name, pos, id);
END
$write_block$;

COMMENT ON PROCEDURE omd_lineage._write_block IS
'Sets the block (p_start_position, p_end_position] that in_block, block_start and block_end use, '
'and the setting omd_lineage.topic to p_topic, until the transaction ends. There is no block when '
'a position is NULL. Errors: OM005: p_topic is NULL. Locks: none.';
GRANT EXECUTE ON PROCEDURE omd_lineage._write_block TO omd_runner, omd_admin;
