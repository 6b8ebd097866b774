-- A DISTINCT would read every commit; this walks the index from one table to the next.

CREATE OR REPLACE FUNCTION omd_lake._committed_tables()
RETURNS SETOF text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH RECURSIVE t AS (
        (
            SELECT c.table_code
            FROM omd_lake.table_commit AS c
            ORDER BY c.table_code
            LIMIT 1
        )
        UNION ALL
        SELECT
            (
                SELECT c.table_code
                FROM omd_lake.table_commit AS c
                WHERE c.table_code > t.table_code
                ORDER BY c.table_code
                LIMIT 1
            ) AS table_code
        FROM t
        WHERE t.table_code IS NOT NULL
    )

    SELECT t.table_code
    FROM t
    WHERE t.table_code IS NOT NULL;
END;

COMMENT ON FUNCTION omd_lake._committed_tables IS
'Returns the tables that have a commit. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lake._committed_tables TO omd_reader;
