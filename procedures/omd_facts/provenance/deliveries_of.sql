-- A load has one delivery; who edits through the views does it under one. A resynchronization has
-- none: it takes over what the Logical Validation Layer has.

CREATE OR REPLACE FUNCTION omd_facts.deliveries_of(
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    delivery_id bigint,
    load_kind text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        l.module_instance_id,
        l.delivery_id,
        l.load_kind
    FROM omd_facts.load_log AS l
    WHERE l.module_instance_id = any(p_instance_array)
    UNION ALL
    SELECT
        g.module_instance_id,
        g.delivery_id,
        'CRUD' AS load_kind
    FROM omd_facts.gdal_delivery AS g
    WHERE g.module_instance_id = any(p_instance_array)
    UNION ALL
    SELECT
        x.module_instance_id,
        x.delivery_id,
        'EXPORT' AS load_kind
    FROM omd_facts.export AS x
    WHERE x.module_instance_id = any(p_instance_array);
END;

COMMENT ON FUNCTION omd_facts.deliveries_of IS
'For rooms: Returns the delivery of each run among p_instance_array that loaded, edited or '
'exported facts, and which of them it did: load_kind LOAD, RESYNC (without a delivery), CRUD or '
'EXPORT. Locks: none.';
