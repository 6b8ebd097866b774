-- The relation of a table code in this database. Looks in the catalogue only, by its indexes:
-- omd_owner needs no right on the user's schemas, which a cast to regclass would ask for. The last
-- condition is for names that a cast to name cuts.

CREATE OR REPLACE FUNCTION omd._target_oid(
    p_table_code text
)
RETURNS oid
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT c.oid
    FROM pg_class AS c
    INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
    WHERE
        n.nspname = (parse_ident(p_table_code))[1]::name
        AND c.relname = (parse_ident(p_table_code))[2]::name
        AND ARRAY[n.nspname::text, c.relname::text] = parse_ident(p_table_code);
END;

COMMENT ON FUNCTION omd._target_oid IS
'The oid of the relation p_table_code (schema.table) in this database, or NULL when there is '
'none. Locks: none.';
REVOKE ALL ON FUNCTION omd._target_oid FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._target_oid TO omd_reader;
