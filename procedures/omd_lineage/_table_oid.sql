-- to_regclass raises an error for a schema that the caller may not use, so the catalog is asked.

CREATE OR REPLACE FUNCTION omd_lineage._table_oid(
    p_table_code text
)
RETURNS oid
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT c.oid
    FROM parse_ident(p_table_code) AS n (parts)
    INNER JOIN pg_namespace AS s ON n.parts[1]::name = s.nspname
    INNER JOIN pg_class AS c ON s.oid = c.relnamespace AND n.parts[2]::name = c.relname;
END;

COMMENT ON FUNCTION omd_lineage._table_oid IS
'Returns the OID of the table p_table_code (schema.table), also to a role that may not use its '
'schema; NULL when there is none. Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage._table_oid FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._table_oid TO omd_runner, omd_admin;
