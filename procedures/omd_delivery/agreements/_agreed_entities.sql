-- A derived entity follows from those that are delivered, so an agreement does not name it.

CREATE OR REPLACE FUNCTION omd_delivery._agreed_entities(
    p_interface_id integer,
    p_entities jsonb
)
RETURNS integer[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $agreed_entities$
DECLARE
    v_unknown text;
    v_entity_ids integer[];
BEGIN
    IF jsonb_typeof(p_entities) <> 'array' THEN
        PERFORM omd_delivery._raise_argument(
            'p_entities', p_entities::text, 'it must be a list of entities'
        );
    END IF;
    SELECT l.value::text AS code INTO v_unknown
    FROM jsonb_array_elements(p_entities) AS l
    LEFT JOIN omd_delivery.entity AS e
        ON e.interface_id = p_interface_id
            AND to_jsonb(e.entity_code) = l.value
            AND NOT e.is_retired
            AND NOT e.is_derived
    WHERE e.entity_id IS NULL
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd_delivery._raise_argument(
            'p_entities', v_unknown, 'the interface has no such entity that can be delivered'
        );
    END IF;
    SELECT array_agg(e.entity_id ORDER BY e.ordinal) INTO v_entity_ids
    FROM omd_delivery.entity AS e
    WHERE e.interface_id = p_interface_id AND p_entities ? e.entity_code;
    RETURN v_entity_ids;
END
$agreed_entities$;

COMMENT ON FUNCTION omd_delivery._agreed_entities IS
'Returns the ids of the entities in the list p_entities of the interface p_interface_id; NULL '
'for an empty list. Errors: OM036: it is no list, or names what can''t be delivered. Locks: none.';
