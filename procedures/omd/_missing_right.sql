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
            'policies of the table may hide rows from the caller'
        )
    FROM unnest(p_rights) WITH ORDINALITY AS r (name, n)
    WHERE
        r.name IS NOT NULL
        AND NOT has_table_privilege(p_relation, r.name)
        AND (r.name = 'DELETE' OR NOT has_any_column_privilege(p_relation, r.name))
    HAVING count(*) > 0 OR row_security_active(p_relation);
END;

COMMENT ON FUNCTION omd._missing_right IS
'Returns which of the rights p_rights on the relation p_relation the caller lacks, or that '
'policies may hide rows of it from him, as the problem of a recall; NULL: nothing. Locks: none.';
REVOKE ALL ON FUNCTION omd._missing_right FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._missing_right TO omd_admin;
