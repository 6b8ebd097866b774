-- The planner inlines the body into the query, so that an index on the two columns serves it. It
-- reads settings and does not call block_start() and block_end(), since each call would be planned
-- on its own. The conditions on p_pos alone follow from the others; the planner needs them to see
-- how small the range is.

CREATE OR REPLACE FUNCTION omd_lineage.in_block(
    p_pos timestamptz,
    p_id bigint
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        (p_pos, p_id) > (
            omd_lineage._block_pos(current_setting('omd_lineage.start_ts', TRUE)),
            nullif(current_setting('omd_lineage.start_id', TRUE), '')::bigint
        )
        AND (p_pos, p_id) <= (
            omd_lineage._block_pos(current_setting('omd_lineage.end_ts', TRUE)),
            nullif(current_setting('omd_lineage.end_id', TRUE), '')::bigint
        )
        AND p_pos >= omd_lineage._block_pos(current_setting('omd_lineage.start_ts', TRUE))
        AND p_pos <= omd_lineage._block_pos(current_setting('omd_lineage.end_ts', TRUE))
        AND p_id IS NOT NULL;
END;

COMMENT ON FUNCTION omd_lineage.in_block IS
'For programs: '
'Returns whether the row at (p_pos, p_id) belongs to the block of the running step: the condition '
'of a transform view on its base table. It is not true for a NULL, nor outside of a step and of '
'set_block. Locks: none. See docs/explanation/lineage.md.';
GRANT EXECUTE ON FUNCTION omd_lineage.in_block TO omd_reader;
