-- Entities have runs of their own; who edits through views, or exports, has one for all of them.

CREATE OR REPLACE FUNCTION omd_facts.runs_of_deliveries(
    p_delivery_array bigint[]
)
RETURNS bigint[]
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT coalesce(array_agg(r.module_instance_id ORDER BY r.module_instance_id), '{}')
    FROM (
        SELECT g.module_instance_id
        FROM omd_facts.gdal_delivery AS g
        WHERE g.delivery_id = any(p_delivery_array)
        UNION ALL
        SELECT x.module_instance_id
        FROM omd_facts.export AS x
        WHERE x.delivery_id = any(p_delivery_array)
    ) AS r
    WHERE r.module_instance_id IS NOT NULL;
END;

COMMENT ON FUNCTION omd_facts.runs_of_deliveries IS
'For rooms: Returns the runs that edited facts under one of the deliveries p_delivery_array, or '
'exported them. Locks: none.';
