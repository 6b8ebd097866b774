-- A DELETE from a view that PostgreSQL can pass on deletes from a table below it. The parsed query
-- of a view says from which column of which relation each of its columns comes. Where that is an
-- expression, a rule or a trigger decides what is deleted, and nothing is known of it.

CREATE OR REPLACE FUNCTION omd._undone_tables(
    p_relation oid,
    p_column text
)
RETURNS TABLE (
    relation oid,
    column_name text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH RECURSIVE place (relation, column_name) AS (
        SELECT
            p_relation,
            p_column
        UNION
        SELECT
            a.attrelid,
            a.attname::text COLLATE "default"
        FROM place AS p
        INNER JOIN pg_rewrite AS r ON p.relation = r.ev_class AND r.rulename = '_RETURN'
        CROSS JOIN
            LATERAL regexp_matches(
                r.ev_action::text,
                ':resname ((?:\\.|[^ \\])+) :ressortgroupref \d+ :resorigtbl (\d+)'
                ' :resorigcol (\d+)',
                'g'
            ) AS entry (m)
        INNER JOIN pg_attribute AS a
            ON
                entry.m[2]::oid = a.attrelid
                AND entry.m[3]::integer = a.attnum
        WHERE regexp_replace(entry.m[1], '\\(.)', '\1', 'g') = p.column_name
    )

    SELECT
        p.relation,
        p.column_name
    FROM place AS p
    INNER JOIN pg_class AS c ON p.relation = c.oid
    WHERE c.relkind IN ('r', 'p');
END;

COMMENT ON FUNCTION omd._undone_tables IS
'Returns the tables whose rows are deleted through the relation p_relation, itself or what a view '
'stands on, and the column in each that is the column p_column of it. Locks: none.';
