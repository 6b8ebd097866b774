-- The stamp of a row of the Logical Validation Layer is the run of one entity of a delivery.

CREATE OR REPLACE FUNCTION omd_delivery.deliveries_of(
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    delivery_id bigint,
    entity_code text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        d.module_instance_id,
        d.delivery_id,
        e.entity_code
    FROM omd_delivery.delivery_entity AS d
    INNER JOIN omd_delivery.entity AS e ON d.entity_id = e.entity_id
    WHERE d.module_instance_id = any(p_instance_array);
END;

COMMENT ON FUNCTION omd_delivery.deliveries_of IS
'For rooms: Returns delivery and entity of each entity run among p_instance_array. Locks: none.';
REVOKE ALL ON FUNCTION omd_delivery.deliveries_of FROM PUBLIC;
