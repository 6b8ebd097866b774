-- A copy knows the tables of the original, and would write and delete files of that. What it had is
-- closed, whatever becomes of its namespaces.

CREATE OR REPLACE FUNCTION omd_lake._hear_server(
    p_as text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hear_server$
BEGIN
    IF p_as = 'COPY' THEN
        -- Who registers a namespace at the moment is waited for.
        LOCK TABLE omd_lake.iceberg_namespace_properties IN SHARE ROW EXCLUSIVE MODE;
        INSERT INTO omd_lake.closed_location (location)
        SELECT DISTINCT p.property_value::text
        FROM omd_lake.iceberg_namespace_properties AS p
        WHERE p.catalog_name = 'omd' AND p.property_key = 'location'
        ON CONFLICT DO NOTHING;
    END IF;
END
$hear_server$;

COMMENT ON FUNCTION omd_lake._hear_server IS
'Closes the locations of all namespaces where p_as is COPY. Locks: the namespaces.';
