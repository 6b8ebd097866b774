-- PostgreSQL writes the literal of a row so: NULL as nothing, quotes around what needs them, and
-- quotes and backslashes inside doubled.

CREATE OR REPLACE FUNCTION omd_lineage._literal_values(
    p_literal text
)
RETURNS text[]
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        array_agg(
            CASE
                WHEN v.item[1] LIKE '"%'
                    THEN
                        replace(
                            replace(substr(v.item[1], 2, length(v.item[1]) - 2), '""', '"'),
                            '\\', '\'
                        )
                ELSE nullif(v.item[1], '')
            END
            ORDER BY v.n
        )
    FROM
        regexp_matches(p_literal, '[(,]("(?:[^"]|"")*"|[^,)"]*)', 'g')
        WITH ORDINALITY AS v (item, n);
END;

COMMENT ON FUNCTION omd_lineage._literal_values IS
'Returns the values of the literal p_literal of a row, as texts. Locks: none.';
