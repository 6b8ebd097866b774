-- A room that registers who reads a source says so here, where the room that keeps the source finds
-- it.

CREATE OR REPLACE FUNCTION omd.declare_reader(
    p_module_id integer,
    p_source_code text,
    p_table_array text[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $declare_reader$
BEGIN
    DELETE FROM omd.source_reader AS r
    WHERE r.module_id = p_module_id
        AND (r.source_code <> p_source_code OR NOT r.table_code = ANY(p_table_array));
    INSERT INTO omd.source_reader (module_id, table_code, source_code)
    SELECT DISTINCT p_module_id, t.table_code, p_source_code
    FROM unnest(p_table_array) AS t (table_code)
    ON CONFLICT (module_id, table_code) DO NOTHING;
END
$declare_reader$;

COMMENT ON FUNCTION omd.declare_reader IS
'For rooms: Makes the Module p_module_id a reader of the source p_source_code by the tables and '
'views p_table_array, and of no other; with an empty array it reads none. Locks: its rows.';
