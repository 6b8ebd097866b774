-- Tells in_block, block_start and block_end the block.

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
    PERFORM
        set_config('omd_lineage.topic', p_topic, p_is_local),
        set_config('omd_lineage.start_ts', coalesce(p_start_position.ts::text, ''), p_is_local),
        set_config('omd_lineage.start_id', coalesce(p_start_position.id::text, ''), p_is_local),
        set_config('omd_lineage.end_ts', coalesce(p_end_position.ts::text, ''), p_is_local),
        set_config('omd_lineage.end_id', coalesce(p_end_position.id::text, ''), p_is_local);
END
$write_block$;

COMMENT ON PROCEDURE omd_lineage._write_block IS
'Sets what in_block, block_start and block_end answer, and the setting omd_lineage.topic, until '
'the transaction ends, or, unless p_is_local, in this session. Locks: none.';
REVOKE ALL ON PROCEDURE omd_lineage._write_block FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage._write_block TO omd_runner, omd_admin;
