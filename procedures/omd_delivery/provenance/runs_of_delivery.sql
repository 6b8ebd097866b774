-- A delivery is its runs of entities together.

CREATE OR REPLACE FUNCTION omd_delivery.runs_of_delivery(
    p_delivery_id bigint
)
RETURNS bigint[]
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT coalesce(array_agg(de.module_instance_id ORDER BY de.entity_id), '{}')
    FROM omd_delivery.delivery_entity AS de
    WHERE de.delivery_id = p_delivery_id AND de.module_instance_id IS NOT NULL;
END;

COMMENT ON FUNCTION omd_delivery.runs_of_delivery IS
'For rooms: Returns the runs of the entities of the delivery p_delivery_id. Locks: none.';
