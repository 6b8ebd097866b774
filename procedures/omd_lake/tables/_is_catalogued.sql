-- A view of another engine may have the name of a table, and is none.

CREATE OR REPLACE FUNCTION omd_lake._is_catalogued(
    p_table_code text
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT count(*) > 0
    FROM omd_lake._catalogue_name(p_table_code) AS n
    INNER JOIN omd_lake.iceberg_tables AS t
        ON n.p_namespace = t.table_namespace AND n.p_name = t.table_name
    WHERE t.catalog_name = 'omd' AND t.iceberg_type IS DISTINCT FROM 'VIEW';
END;

COMMENT ON FUNCTION omd_lake._is_catalogued IS
'Returns whether p_table_code (in its one spelling) is an Iceberg table of this catalogue. '
'Locks: none.';
