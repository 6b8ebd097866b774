-- The second view of p_recompute_key reads the whole base table, and rows that do not count yet lie
-- beyond the end of the block: rows of runs that may still be undone. in_block is the condition of
-- the views that read the block alone.

CREATE OR REPLACE FUNCTION omd_lineage.until_block_end(
    p_pos timestamptz,
    p_id bigint
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        (
            (p_pos, p_id) <= (
                omd_lineage._block_pos(current_setting('omd_lineage.end_ts', TRUE)),
                nullif(current_setting('omd_lineage.end_id', TRUE), '')::bigint
            )
            OR nullif(current_setting('omd_lineage.end_ts', TRUE), '') IS NULL
        );
END;

COMMENT ON FUNCTION omd_lineage.until_block_end IS
'For programs: '
'Returns whether the row at (p_pos, p_id) lies before or at the end of the block of the running '
'step: the condition of the second view of p_recompute_key on its base table. It is true outside '
'of a step and of set_block. Locks: none. See docs/explanation/lineage.md.';
GRANT EXECUTE ON FUNCTION omd_lineage.until_block_end TO omd_reader;
