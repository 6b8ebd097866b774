-- What is done to the table of a family is done to these too, where PostgreSQL does not do it.

CREATE OR REPLACE FUNCTION omd_dispatch._task_tables(
    p_table text
)
RETURNS SETOF regclass
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT h.inhrelid::regclass
    FROM pg_inherits AS h
    WHERE h.inhparent = p_table::regclass
    UNION ALL
    SELECT t.relation
    FROM to_regclass(p_table || '_swap') AS t (relation)
    WHERE t.relation IS NOT NULL;
END;

COMMENT ON FUNCTION omd_dispatch._task_tables IS
'Returns the partitions of p_table, and its spare partition if it has one. Locks: none.';
