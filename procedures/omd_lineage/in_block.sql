-- Does a row belong to the block of the running step? The planner puts the body into the query, so
-- that an index on the two columns serves it. Locks: none.

CREATE OR REPLACE FUNCTION omd_lineage.in_block(
    p_pos timestamptz,
    p_id bigint
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    -- The last two follow from the others; but only in them the planner sees how small a range is.
    SELECT
        (p_pos, p_id)
        > ((omd_lineage.block_start()).ts, (omd_lineage.block_start()).id)
        AND (p_pos, p_id)
        <= ((omd_lineage.block_end()).ts, (omd_lineage.block_end()).id)
        AND p_pos >= (omd_lineage.block_start()).ts
        AND p_pos <= (omd_lineage.block_end()).ts;
END;

COMMENT ON FUNCTION omd_lineage.in_block IS
'Whether the row at (p_pos, p_id) belongs to the block of the running step: the condition of a '
'transform view on its base table. Locks: none. SQL ETL scheduler, "Transform View".';
REVOKE ALL ON FUNCTION omd_lineage.in_block FROM PUBLIC;
