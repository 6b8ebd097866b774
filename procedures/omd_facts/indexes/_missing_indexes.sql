-- A table without rows gets its indexes with the first ones, unless somebody writes through views.

CREATE OR REPLACE FUNCTION omd_facts._missing_indexes(
    p_interface_id integer
)
RETURNS TABLE (table_name text, statement text)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $missing_indexes$
BEGIN
    RETURN QUERY
    SELECT w.table_name, w.statement
    FROM omd_facts._wanted_indexes(p_interface_id) AS w
    WHERE to_regclass(format('%I.%I', w.schema_name, w.index_name)) IS NULL
        AND (
            w.table_name LIKE '%\_past'
            OR EXISTS (
                SELECT FROM omd_facts.interface AS i
                WHERE i.interface_id = p_interface_id AND i.is_indexed
            )
            OR omd_facts._has_rows(w.schema_name, w.table_name)
        );
END
$missing_indexes$;

COMMENT ON FUNCTION omd_facts._missing_indexes IS
'Returns the indexes that the tables of the interface p_interface_id lack. Locks: none.';
