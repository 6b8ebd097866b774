-- A room may have entered a Module as the reader of a source without saying all that it reads.

CREATE OR REPLACE FUNCTION omd.undeclared_readers(
    p_source_array text[]
)
RETURNS TABLE (module_id integer, table_code text)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $undeclared_readers$
BEGIN
    RETURN QUERY
    SELECT DISTINCT r.module_id, b.table_code
    FROM omd.source_reader AS r
    CROSS JOIN LATERAL unnest(omd.base_tables(r.table_code)) AS b (table_code)
    WHERE r.source_code = ANY(p_source_array)
        AND NOT EXISTS (
            SELECT FROM omd.module_declaration AS d
            WHERE d.module_id = r.module_id AND d.origin = 'ROOM'
        );
END
$undeclared_readers$;

COMMENT ON FUNCTION omd.undeclared_readers IS
'For rooms: returns the Modules that read one of the sources p_source_array by windows and have '
'not declared what they read, with the tables. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.undeclared_readers TO omd_reader;
