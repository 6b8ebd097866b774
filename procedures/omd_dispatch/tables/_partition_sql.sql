-- A row of the new model is found by its id and its partition; the old model has no partitions.

CREATE OR REPLACE FUNCTION omd_dispatch._partition_sql(
    p_family_code text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN omd_dispatch._migration_status(p_family_code) >= 3 THEN 't.partition_code' ELSE '0'
        END;
END;

COMMENT ON FUNCTION omd_dispatch._partition_sql IS
'Returns the SQL expression of the partition of a task t of p_family_code; 0 while the old model '
'is master. Locks: none.';
