-- What a metadata file says of its table is written by whoever writes the table, and maintenance
-- deletes files with other rights. So the location is taken from where the metadata file of the
-- catalogue lies, which only omd_admin moves (see _commit_problem), or else from the namespace.

CREATE OR REPLACE FUNCTION omd_lake.table_location(
    p_table_code text,
    OUT p_location text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $table_location$
DECLARE
    v_table_code text := omd_lake._spell_table(p_table_code);
BEGIN
    SELECT omd_lake._location_of(t.metadata_location) INTO p_location
    FROM omd_lake._catalogue_name(v_table_code) AS n
    INNER JOIN omd_lake.iceberg_tables AS t
        ON t.table_namespace = n.p_namespace AND t.table_name = n.p_name
    WHERE t.catalog_name = 'omd' AND t.iceberg_type IS DISTINCT FROM 'VIEW';
    p_location := coalesce(p_location, omd_lake._location(v_table_code));
END
$table_location$;

COMMENT ON FUNCTION omd_lake.table_location IS
'Returns where the table p_table_code lies: the folder above that of its metadata file in the '
'catalogue, or the one that its namespace has for it. Maintenance deletes nothing outside of it. '
'p_location is NULL for a table of another catalogue. Errors: OM005, OM009, OM013, OM220. Locks: '
'none. May be NULL: p_location.';
GRANT EXECUTE ON FUNCTION omd_lake.table_location TO omd_reader;
