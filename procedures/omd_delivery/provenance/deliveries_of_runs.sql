-- A run of an entity is a part of its delivery; only that of the newest attempt counts.

CREATE OR REPLACE FUNCTION omd_delivery.deliveries_of_runs(
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    delivery_id bigint,
    table_code text,
    load_instance_id bigint
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        de.module_instance_id,
        de.delivery_id,
        format('%I.%I', i.lvl_schema, e.entity_code) AS table_code,
        q.module_instance_id AS load_instance_id
    FROM omd_delivery.delivery_entity AS de
    INNER JOIN omd_delivery.entity AS e ON de.entity_id = e.entity_id
    INNER JOIN omd_delivery.interface AS i ON e.interface_id = i.interface_id
    LEFT JOIN omd_delivery.delta_queue AS q
        ON de.delivery_id = q.delivery_id AND q.queue_status = 'PERSISTED'
    WHERE de.module_instance_id = any(p_instance_array);
END;

COMMENT ON FUNCTION omd_delivery.deliveries_of_runs IS
'For rooms: Returns those of the Module Instances p_instance_array that are runs of entities, '
'each with its delivery, its table in LVL, and the load that the facts made of the delivery; '
'NULL: none. Locks: none.';
