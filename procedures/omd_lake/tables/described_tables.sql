-- Who tells others about a table of the lake says where it lies, and refuses none.

CREATE OR REPLACE FUNCTION omd_lake.described_tables(
    p_table_array text[]
)
RETURNS TABLE (table_code text, location text)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $described_tables$
BEGIN
    RETURN QUERY
    SELECT
        t.table_code,
        coalesce(
            omd_lake._location_of(i.metadata_location),
            omd_lake._default_location(t.table_code)
        )
    FROM unnest(p_table_array) AS t (table_code)
    CROSS JOIN LATERAL omd_lake._catalogue_name(t.table_code) AS n
    LEFT JOIN omd_lake.iceberg_tables AS i
        ON
            i.catalog_name = 'omd'
            AND n.p_namespace = i.table_namespace
            AND n.p_name = i.table_name
            AND i.iceberg_type IS DISTINCT FROM 'VIEW'
    WHERE omd.spell_table(t.table_code) IS NOT NULL;
END
$described_tables$;

COMMENT ON FUNCTION omd_lake.described_tables IS
'For rooms: Returns where the tables p_table_array lie in the lake; location NULL: that is not '
'known. A text that is no name of a table does not come back. Locks: none.';
