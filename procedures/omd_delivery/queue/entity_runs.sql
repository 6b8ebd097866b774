-- A load reads the rows of these runs and no others.

CREATE OR REPLACE FUNCTION omd_delivery.entity_runs(
    p_delivery_id bigint
)
RETURNS TABLE (entity_id integer, module_instance_id bigint, table_code text)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        de.entity_id,
        de.module_instance_id,
        format('%I.%I', i.lvl_schema, e.entity_code) AS table_code
    FROM omd_delivery.delivery_entity AS de
    INNER JOIN omd_delivery.entity AS e ON de.entity_id = e.entity_id
    INNER JOIN omd_delivery.interface AS i ON e.interface_id = i.interface_id
    WHERE de.delivery_id = p_delivery_id AND de.module_instance_id IS NOT NULL;
END;

COMMENT ON FUNCTION omd_delivery.entity_runs IS
'For rooms: returns the entities of the delivery p_delivery_id with the newest run of each, and '
'the table of LVL that it writes. Locks: none.';
