-- A check of the user's own is a column of a transform, so it sees each row as it is written. The
-- name alone decides nothing: a destination may have such a column.

CREATE OR REPLACE FUNCTION omd_lineage._checks_of(
    p_view regclass,
    p_table regclass
)
RETURNS text[]
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(array_agg(a.attname::text ORDER BY a.attnum), '{}')
    FROM pg_catalog.pg_attribute AS a
    WHERE
        a.attrelid = p_view
        AND a.attnum > 0
        AND NOT a.attisdropped
        AND omd_lineage._is_check(a.attname, a.atttypid)
        AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_attribute AS d
            WHERE
                d.attrelid = p_table
                AND d.attname = a.attname
                AND d.attnum > 0
                AND NOT d.attisdropped
        );
END;

COMMENT ON FUNCTION omd_lineage._checks_of IS
'Returns the checks of the view p_view: its boolean columns whose names begin with check_ and that '
'the table p_table lacks. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._checks_of TO omd_runner;
