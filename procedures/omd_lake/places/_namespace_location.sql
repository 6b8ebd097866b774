-- Whoever refuses a namespace that is not registered says so with the table that it was asked for.

CREATE OR REPLACE FUNCTION omd_lake._namespace_location(
    p_namespace text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT p.property_value::text
    FROM omd_lake.iceberg_namespace_properties AS p
    WHERE
        p.catalog_name = 'omd' AND p.namespace = p_namespace AND p.property_key = 'location';
END;

COMMENT ON FUNCTION omd_lake._namespace_location IS
'Returns where the tables of the namespace p_namespace (without quotes) lie; NULL: it is not '
'registered. Locks: none.';
