-- Tells block_start and block_end of this transaction. Locks: none.

CREATE OR REPLACE PROCEDURE omd_lineage.write_block(
    p_topic text,
    p_start_position omd_lineage.row_position,
    p_end_position omd_lineage.row_position
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $write_block$
BEGIN
    PERFORM
        set_config('omd_lineage.topic', p_topic, TRUE),
        set_config('omd_lineage.block_start', coalesce(p_start_position::text, ''), TRUE),
        set_config('omd_lineage.block_end', coalesce(p_end_position::text, ''), TRUE);
END
$write_block$;

COMMENT ON PROCEDURE omd_lineage.write_block IS
'Sets what block_start and block_end answer, and the setting omd_lineage.topic, until the '
'transaction ends. Locks: none.';
REVOKE ALL ON PROCEDURE omd_lineage.write_block FROM PUBLIC;
