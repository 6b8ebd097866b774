-- Names and types are those of the registry, so that upper rooms can put statements together.

CREATE OR REPLACE FUNCTION omd_delivery.subject_key(
    p_interface_code text,
    p_entity_code text,
    p_keys jsonb,
    OUT p_entity_id integer,
    OUT p_key text[],
    OUT p_key_types text[],
    OUT p_typed_keys jsonb
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $subject_key$
BEGIN
    SELECT e.entity_id,
        array_agg(a.attribute_code ORDER BY a.key_position),
        array_agg(a.data_type ORDER BY a.key_position)
    INTO p_entity_id, p_key, p_key_types
    FROM omd_delivery.interface AS i
    INNER JOIN omd_delivery.entity AS e USING (interface_id)
    INNER JOIN omd_delivery.attribute AS a USING (entity_id)
    WHERE i.interface_code = p_interface_code
        AND e.entity_code = p_entity_code
        AND a.key_position IS NOT NULL
    GROUP BY e.entity_id;
    IF p_entity_id IS NOT NULL THEN
        p_typed_keys := omd_delivery._context_keys(p_entity_id, p_keys);
    END IF;
END
$subject_key$;

COMMENT ON FUNCTION omd_delivery.subject_key IS
'For rooms: Returns the id, the attributes of the key and their types of the entity p_entity_code '
'of the interface p_interface_code, all NULL when there is none; and p_keys, a list of keys, with '
'typed values, NULL when it is none. Locks: none.';
