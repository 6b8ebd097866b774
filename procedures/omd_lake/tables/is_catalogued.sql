-- Only the files of these tables are ours to rewrite.

CREATE OR REPLACE FUNCTION omd_lake.is_catalogued(
    p_table_code text
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT omd_lake._is_catalogued(p_table_code);
END;

COMMENT ON FUNCTION omd_lake.is_catalogued IS
'For rooms: Returns whether p_table_code (in its one spelling) is an Iceberg table of this '
'catalogue. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lake.is_catalogued TO omd_admin;
