-- A load writes entities, which readers know by their current views.

CREATE OR REPLACE FUNCTION omd_facts.described_loads(
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    transaction_datetime timestamptz,
    entity_table text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        l.module_instance_id,
        l.transaction_datetime,
        format('%I.%I', 'gdal_' || i.interface_code, e.entity_code) AS entity_table
    FROM omd_facts.load_log AS l
    INNER JOIN omd_facts.interface AS i ON l.interface_id = i.interface_id
    INNER JOIN omd_facts.entity AS e ON e.entity_id = any(l.entity_ids)
    WHERE l.module_instance_id = any(p_instance_array);
END;

COMMENT ON FUNCTION omd_facts.described_loads IS
'For rooms: Returns the entities that each load among p_instance_array has written, by their '
'current views, and the time T of its rows. Locks: none.';
