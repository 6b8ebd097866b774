-- to_regclass raises an error for a schema that the caller may not use, so the catalog is asked. Up to
-- PostgreSQL 17 a function in plain SQL would be planned again by each statement that calls it.

CREATE OR REPLACE FUNCTION omd.target_relation(
    p_table_code text
)
RETURNS oid
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $target_relation$
DECLARE
    v_parts text[] := parse_ident(p_table_code);
BEGIN
    IF cardinality(v_parts) <> 2 THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT c.oid FROM pg_class AS c
        WHERE c.relname = v_parts[2]::name
            AND c.relnamespace = (
                SELECT n.oid FROM pg_namespace AS n WHERE n.nspname = v_parts[1]::name
            )
    );
END
$target_relation$;

COMMENT ON FUNCTION omd.target_relation IS
'For rooms: Returns the oid of the relation p_table_code (schema.table) in this database; NULL '
'when there is none. Locks: none.';
REVOKE ALL ON FUNCTION omd.target_relation FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.target_relation TO omd_reader;
