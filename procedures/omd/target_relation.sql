-- to_regclass raises an error for a schema that the caller may not use, so the catalog is asked.

CREATE OR REPLACE FUNCTION omd.target_relation(
    p_table_code text
)
RETURNS oid
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT c.oid
    FROM parse_ident(p_table_code) AS p (parts)
    INNER JOIN pg_namespace AS n ON n.nspname = p.parts[1]::name
    INNER JOIN pg_class AS c ON n.oid = c.relnamespace AND c.relname = p.parts[2]::name
    WHERE cardinality(p.parts) = 2;
END;

COMMENT ON FUNCTION omd.target_relation IS
'For rooms: Returns the oid of the relation p_table_code (schema.table) in this database; NULL '
'when there is none. Locks: none.';
REVOKE ALL ON FUNCTION omd.target_relation FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.target_relation TO omd_reader;
