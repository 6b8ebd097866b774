-- Where the block of the running step starts.

CREATE OR REPLACE FUNCTION omd_lineage.block_start()
RETURNS omd_lineage.row_position
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT (b.ts, b.id)::omd_lineage.row_position
    FROM (
        SELECT
            nullif(current_setting('omd_lineage.start_ts', TRUE), '')::timestamptz AS ts,
            nullif(current_setting('omd_lineage.start_id', TRUE), '')::bigint AS id
    ) AS b
    WHERE b.ts IS NOT NULL;
END;

COMMENT ON FUNCTION omd_lineage.block_start IS
'Where the block (start, end] of the running step starts: its time (ts) and id. NULL outside of a '
'step and of set_block. For transform views; in_block compares with both. Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage.block_start FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage.block_start TO omd_reader;
