-- A delivery reads what LVL has of its entities, and of those to which they are related; a set rule
-- may read each entity of the interface.

CREATE OR REPLACE FUNCTION omd_delivery._save_delivery_inputs(
    p_interface_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $save_delivery_inputs$
DECLARE
    v_entity record;
BEGIN
    FOR v_entity IN
        SELECT e.entity_id, e.module_id, i.lvl_schema
        FROM omd_delivery.entity AS e
        INNER JOIN omd_delivery.interface AS i USING (interface_id)
        WHERE e.interface_id = p_interface_id AND e.module_id IS NOT NULL
        ORDER BY e.module_id
    LOOP
        PERFORM omd.save_inputs(
            v_entity.module_id,
            'ROOM',
            (
                SELECT
                    jsonb_agg(
                        jsonb_build_object(
                            'table', format('%I.%I', v_entity.lvl_schema, n.entity_code),
                            'kind', 'ALL'
                        )
                        ORDER BY n.entity_id
                    )
                FROM omd_delivery.entity AS n
                WHERE n.interface_id = p_interface_id
                    AND NOT n.is_retired
                    AND (
                        n.entity_id = v_entity.entity_id
                        OR EXISTS (
                            SELECT FROM omd_delivery.relationship AS r
                            WHERE (r.child_entity_id, r.parent_entity_id) IN (
                                (v_entity.entity_id, n.entity_id),
                                (n.entity_id, v_entity.entity_id)
                            )
                        )
                        OR EXISTS (
                            SELECT FROM omd_delivery.model_constraint AS c
                            WHERE c.entity_id = v_entity.entity_id
                                AND c.constraint_type = 'set'
                                AND NOT c.is_retired
                        )
                    )
            )
        );
    END LOOP;
END
$save_delivery_inputs$;

COMMENT ON FUNCTION omd_delivery._save_delivery_inputs IS
'Tells process control what deliveries of the interface p_interface_id read, entity by entity. '
'Locks: their Modules, where something is new.';
