-- Where the block of the running step ends.

CREATE OR REPLACE FUNCTION omd_lineage.block_end()
RETURNS omd_lineage.row_position
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT (b.ts, b.id)::omd_lineage.row_position
    FROM (
        SELECT
            nullif(current_setting('omd_lineage.end_ts', TRUE), '')::timestamptz AS ts,
            nullif(current_setting('omd_lineage.end_id', TRUE), '')::bigint AS id
    ) AS b
    WHERE b.ts IS NOT NULL;
END;

COMMENT ON FUNCTION omd_lineage.block_end IS
'Where the block (start, end] of the running step ends: its time (ts) and id. NULL outside of a '
'step and of set_block. For transform views; in_block compares with both. Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage.block_end FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage.block_end TO omd_reader;
