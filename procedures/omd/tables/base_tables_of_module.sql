-- A Module has one target; a room has declared the others. An export writes none, whatever its
-- Module is registered with.

CREATE OR REPLACE FUNCTION omd.base_tables_of_module(
    p_module_id integer
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $base_tables_of_module$
BEGIN
    RETURN (
        SELECT coalesce(array_agg(DISTINCT b.table_code), '{}')
        FROM omd.module AS m
        CROSS JOIN LATERAL (
            SELECT m.table_code
            UNION
            SELECT t.table_code FROM omd.source_table AS t
            WHERE m.is_source AND t.source_code = 'runs.' || m.module_id
        ) AS w
        CROSS JOIN LATERAL unnest(omd.base_tables(w.table_code)) AS b (table_code)
        WHERE m.module_id = p_module_id AND m.module_kind_code <> 'EXPORT'
    );
END
$base_tables_of_module$;

COMMENT ON FUNCTION omd.base_tables_of_module IS
'For rooms: returns the tables that each run of the Module p_module_id may have written, as '
'omd.base_tables names them. Locks: none.';
