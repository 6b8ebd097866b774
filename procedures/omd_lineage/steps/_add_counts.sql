-- A step with several transforms counts the NULLs of each one, but its log has one count per
-- column.

CREATE OR REPLACE FUNCTION omd_lineage._add_counts(
    p_left jsonb,
    p_right jsonb
)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(jsonb_object_agg(s.key, s.n), '{}')
    FROM (
        SELECT
            c.key,
            sum(c.value::bigint) AS n
        FROM (
            SELECT * FROM jsonb_each_text(p_left)
            UNION ALL
            SELECT * FROM jsonb_each_text(p_right)
        ) AS c
        GROUP BY c.key
    ) AS s;
END;

COMMENT ON FUNCTION omd_lineage._add_counts IS
'Returns the counts of p_left and p_right (JSON objects of numbers), added key by key. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_lineage._add_counts TO omd_runner;
