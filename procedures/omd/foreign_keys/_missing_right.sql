-- A right on columns is enough where the statements name columns, but what they name is not known.
-- Rows that policies hide would stay, stamped by a run that is undone.

CREATE OR REPLACE FUNCTION omd._missing_right(
    p_relation oid,
    p_rights text[]
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        'NO_RIGHT: '
        || coalesce(
            string_agg(r.name, ', ' ORDER BY r.n) || ' on the table is missing',
            CASE WHEN NOT s.is_open THEN 'USAGE on its schema is missing' END,
            'policies of the table may hide rows from the caller'
        )
    FROM (
        SELECT coalesce(bool_and(has_schema_privilege(c.relnamespace, 'USAGE')), TRUE) AS is_open
        FROM pg_class AS c
        WHERE c.oid = p_relation
    ) AS s
    LEFT JOIN unnest(p_rights) WITH ORDINALITY AS r (name, n)
        ON
            r.name IS NOT NULL
            AND NOT has_table_privilege(p_relation, r.name)
            AND (r.name = 'DELETE' OR NOT has_any_column_privilege(p_relation, r.name))
    GROUP BY s.is_open
    HAVING count(r.name) > 0 OR NOT s.is_open OR row_security_active(p_relation);
END;

COMMENT ON FUNCTION omd._missing_right IS
'Returns which of the rights p_rights on the relation p_relation the caller lacks, or that '
'policies may hide rows of it from him, as the problem of a recall; NULL: nothing. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._missing_right TO omd_admin;
