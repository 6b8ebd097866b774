-- to_regclass raises an error for a schema that the caller may not use, so the catalog is asked. Up
-- to PostgreSQL 17 a function in plain SQL would be planned again by each statement that calls it.

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
    v_relation oid;
BEGIN
    IF cardinality(v_parts) = 2 THEN
        SELECT c.oid INTO v_relation FROM pg_class AS c
        WHERE c.relname = v_parts[2]::name
            AND c.relnamespace = to_regnamespace(quote_ident(v_parts[1]));
    END IF;
    RETURN v_relation;
END
$target_relation$;

COMMENT ON FUNCTION omd.target_relation IS
'For rooms: Returns the oid of the relation p_table_code (schema.table) in this database; NULL '
'when there is none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.target_relation TO omd_reader, omd_data_reader;
