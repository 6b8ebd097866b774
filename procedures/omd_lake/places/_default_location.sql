-- This is the only place that knows where a table lies. A name may be anything, but a folder can't:
-- a slash would lie inside of another table, and engines take some characters for patterns or
-- partitions. So every byte outside of the plain ones is written as ~ and two hexadecimal digits;
-- the ~ is one of them, so that two names never share a folder.

CREATE OR REPLACE FUNCTION omd_lake._default_location(
    p_table_code text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        rtrim(omd_lake._namespace_location(n.p_namespace), '/') || '/'
        || CASE
            WHEN n.p_name ~ '^[A-Za-z0-9_-][A-Za-z0-9_.-]*$' THEN n.p_name
            ELSE (
                SELECT
                    string_agg(
                        CASE
                            WHEN c.c ~ '^[A-Za-z0-9_-]$' THEN c.c
                            ELSE
                                regexp_replace(
                                    upper(encode(convert_to(c.c, 'UTF8'), 'hex')),
                                    '(..)', '~\1', 'g'
                                )
                        END,
                        '' ORDER BY c.n
                    )
                FROM string_to_table(n.p_name, NULL) WITH ORDINALITY AS c (c, n)
            )
        END
    FROM omd_lake._catalogue_name(p_table_code) AS n;
END;

COMMENT ON FUNCTION omd_lake._default_location IS
'Returns the folder of the table p_table_code: that of its namespace and its name; NULL for one of '
'another catalogue, and where the namespace is not registered. Locks: none.';
