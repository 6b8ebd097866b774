-- Parents and children are looked up in all rows of LVL, and a set rule may read any table. What a
-- delivery was held against stands in the results of its newest attempt.

CREATE OR REPLACE FUNCTION omd_delivery._read_entities(
    p_delivery_id bigint
)
RETURNS integer[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $read_entities$
BEGIN
    RETURN ARRAY(
        SELECT de.entity_id
        FROM omd_delivery.delivery_entity AS de
        WHERE de.delivery_id = p_delivery_id
        UNION
        SELECT r.entity_id
        FROM omd_delivery.delivery AS d
        INNER JOIN omd_delivery.entity_result AS r USING (delivery_id, attempt)
        WHERE d.delivery_id = p_delivery_id
        UNION
        SELECT x.entity_id
        FROM omd_delivery.delivery AS d
        INNER JOIN omd_delivery.constraint_result AS c USING (delivery_id, attempt)
        INNER JOIN omd_delivery.model_constraint AS m USING (constraint_id)
        INNER JOIN omd_delivery.relationship AS l USING (relationship_id)
        CROSS JOIN LATERAL unnest(ARRAY[l.child_entity_id, l.parent_entity_id]) AS x (entity_id)
        WHERE d.delivery_id = p_delivery_id
        UNION
        -- A context is that of the parents.
        SELECT l.parent_entity_id
        FROM omd_delivery.delivery_entity AS de
        INNER JOIN omd_delivery.relationship AS l
            ON de.entity_id = l.child_entity_id AND l.has_context_filter
        WHERE de.delivery_id = p_delivery_id
        UNION
        SELECT e.entity_id
        FROM omd_delivery.delivery AS d
        INNER JOIN omd_delivery.constraint_result AS c USING (delivery_id, attempt)
        INNER JOIN omd_delivery.model_constraint AS m USING (constraint_id)
        INNER JOIN omd_delivery.entity AS e ON d.interface_id = e.interface_id
        WHERE d.delivery_id = p_delivery_id AND m.constraint_type = 'set'
    );
END
$read_entities$;

COMMENT ON FUNCTION omd_delivery._read_entities IS
'Returns the entities whose rows in LVL the delivery p_delivery_id has read. Locks: none.';
