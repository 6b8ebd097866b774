-- A view that called the functions of sizes itself would be computed as a whole.

CREATE OR REPLACE FUNCTION omd.table_bytes(
    p_table oid,
    OUT table_bytes bigint,
    OUT index_bytes bigint
)
RETURNS record
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        pg_table_size(p_table) AS table_bytes,
        pg_indexes_size(p_table) AS index_bytes;
END;

COMMENT ON FUNCTION omd.table_bytes IS
'For rooms: Returns how many bytes the table p_table takes, with its TOAST table, and its indexes. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd.table_bytes TO omd_reader;
