-- Is there a relation of this name in this database? Looks in the catalogue only: omd_owner needs
-- no right on the user's schemas.

CREATE OR REPLACE FUNCTION omd.target_exists(
    p_table_code text
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT EXISTS(
        SELECT FROM pg_class AS c
        INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
        WHERE ARRAY[n.nspname::text, c.relname::text] = parse_ident(p_table_code)
    );
END;

COMMENT ON FUNCTION omd.target_exists IS
'For rooms: Whether the table p_table_code (schema.table) exists in this database. Locks: none.';
REVOKE ALL ON FUNCTION omd.target_exists FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.target_exists TO omd_reader;
