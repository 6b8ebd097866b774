-- The entities of an export are named as everybody names them who reads facts.

CREATE OR REPLACE FUNCTION omd_facts._exported_tables(
    p_delivery_id bigint
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $exported_tables$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT b.table_code
        FROM omd_facts.export_entity AS n
        INNER JOIN omd_facts.entity AS e USING (entity_id)
        INNER JOIN omd_facts.interface AS i USING (interface_id)
        CROSS JOIN LATERAL unnest(
            omd.base_tables(format('%I.%I', 'gdal_' || i.interface_code, e.entity_code))
        ) AS b (table_code)
        WHERE n.delivery_id = p_delivery_id
    );
END
$exported_tables$;

COMMENT ON FUNCTION omd_facts._exported_tables IS
'Returns the entities that the export p_delivery_id reads, as omd.base_tables names them. Locks: '
'none.';
