-- People and statements call it; in_block reads the settings itself.

CREATE OR REPLACE FUNCTION omd_lineage.block_end()
RETURNS omd_lineage.row_position
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT (b.pos, b.id)::omd_lineage.row_position
    FROM (
        SELECT
            omd_lineage._block_pos(current_setting('omd_lineage.end_ts', TRUE)) AS pos,
            nullif(current_setting('omd_lineage.end_id', TRUE), '')::bigint AS id
    ) AS b
    WHERE b.pos IS NOT NULL;
END;

COMMENT ON FUNCTION omd_lineage.block_end IS
'For programs: '
'Returns the position (pos, id) where the block (start, end] of the running step ends; NULL '
'outside of a step and of set_block. It is meant for transform views and statements; in_block '
'compares with both ends. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage.block_end TO omd_reader;
