-- A room declares what it makes when it makes it, so nobody registers a source.

CREATE OR REPLACE FUNCTION omd.declare_source(
    p_source_code text,
    p_source_kind_code text,
    p_table_array text[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $declare_source$
BEGIN
    INSERT INTO omd.source (source_code, source_kind_code)
    VALUES (p_source_code, p_source_kind_code)
    ON CONFLICT (source_code) DO NOTHING;
    DELETE FROM omd.source_table AS t
    WHERE t.source_code = p_source_code AND NOT t.table_code = ANY(p_table_array);
    INSERT INTO omd.source_table (table_code, source_code)
    SELECT DISTINCT t.table_code, p_source_code
    FROM unnest(p_table_array) AS t (table_code)
    ON CONFLICT (table_code, source_code) DO NOTHING;
END
$declare_source$;

COMMENT ON FUNCTION omd.declare_source IS
'For rooms: Makes p_source_code a source of the kind p_source_kind_code, which is read by the '
'tables and views p_table_array and by no other. Its position stays. Locks: the source, while it '
'is new.';
