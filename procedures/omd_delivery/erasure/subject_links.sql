-- What the model has no longer may still have rows.

CREATE OR REPLACE FUNCTION omd_delivery.subject_links(
    p_interface_code text
)
RETURNS TABLE (
    child_code text,
    parent_code text,
    child_columns text[],
    parent_key text[],
    is_in_key boolean
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $subject_links$
BEGIN
    RETURN QUERY
    SELECT
        c.entity_code,
        p.entity_code,
        array_agg(ca.attribute_code ORDER BY pa.key_position),
        array_agg(pa.attribute_code ORDER BY pa.key_position),
        bool_and(ca.key_position IS NOT NULL)
    FROM omd_delivery.interface AS i
    INNER JOIN omd_delivery.entity AS c USING (interface_id)
    INNER JOIN omd_delivery.relationship AS r ON c.entity_id = r.child_entity_id
    INNER JOIN omd_delivery.entity AS p ON r.parent_entity_id = p.entity_id
    INNER JOIN omd_delivery.relationship_column AS k USING (relationship_id)
    INNER JOIN omd_delivery.attribute AS ca ON k.child_attribute_id = ca.attribute_id
    INNER JOIN omd_delivery.attribute AS pa ON k.parent_attribute_id = pa.attribute_id
    WHERE i.interface_code = p_interface_code
    GROUP BY r.relationship_id, c.entity_code, p.entity_code
    ORDER BY r.relationship_id;
END
$subject_links$;

COMMENT ON FUNCTION omd_delivery.subject_links IS
'For rooms: Returns the relationships of the interface p_interface_code: child, parent, the '
'columns of the child in the order of the key of the parent, this key, and whether all of the '
'columns are in the key of the child. Locks: none.';
