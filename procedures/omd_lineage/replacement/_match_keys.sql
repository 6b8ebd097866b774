-- Two NULLs are equal here, but PostgreSQL can't join by IS NOT DISTINCT FROM. So there is one
-- condition for keys without a NULL, which an index serves, and one for the others, which compares
-- records: for records two NULLs are equal. The operator is that of the type's own index, since no
-- search_path would find it where the type comes from an extension.

CREATE OR REPLACE FUNCTION omd_lineage._match_keys(
    p_table regclass,
    p_key text[],
    p_left text,
    p_right text,
    p_has_nulls boolean
)
RETURNS text[]
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        array_remove(
            ARRAY[
                string_agg(
                    format('%s.%I %s %s.%I', p_left, k.name, k.equals, p_right, k.name),
                    ' AND ' ORDER BY k.n
                ),
                CASE
                    WHEN p_has_nulls
                        THEN
                            format(
                                '(%s) AND (%s) AND ROW(%s)::record = ROW(%s)::record',
                                string_agg(
                                    format('%s.%I IS NULL', p_left, k.name), ' OR ' ORDER BY k.n
                                ),
                                string_agg(
                                    format('%s.%I IS NULL', p_right, k.name), ' OR ' ORDER BY k.n
                                ),
                                string_agg(format('%s.%I', p_left, k.name), ', ' ORDER BY k.n),
                                string_agg(format('%s.%I', p_right, k.name), ', ' ORDER BY k.n)
                            )
                END
            ],
            NULL
        )
    FROM (
        SELECT
            given.name,
            given.n,
            omd_lineage._equals_operator(a.atttypid) AS equals
        FROM unnest(p_key) WITH ORDINALITY AS given (name, n)
        INNER JOIN pg_attribute AS a ON a.attrelid = p_table AND given.name = a.attname
    ) AS k;
END;

COMMENT ON FUNCTION omd_lineage._match_keys IS
'Returns the conditions by which the rows p_left and p_right, both typed as p_table, have the same'
' key p_key: one for keys without a NULL and, where p_has_nulls, one for those with. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._match_keys TO omd_runner, omd_admin;
