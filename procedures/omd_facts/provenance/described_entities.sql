-- What the facts store of an entity comes from its table in the Logical Validation Layer, attribute
-- by attribute.

CREATE OR REPLACE FUNCTION omd_facts.described_entities(
    p_module_array integer[]
)
RETURNS TABLE (
    module_id integer,
    entity_table text,
    source_table text,
    attribute_codes text[]
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        i.module_id,
        format('%I.%I', 'gdal_' || i.interface_code, e.entity_code) AS entity_table,
        format('%I.%I', 'lvl_' || i.interface_code, e.entity_code) AS source_table,
        ARRAY(
            SELECT a.attribute_code
            FROM omd_facts.attribute AS a
            WHERE a.entity_id = e.entity_id
            ORDER BY a.ordinal
        ) AS attribute_codes
    FROM omd_facts.interface AS i
    INNER JOIN omd_facts.entity AS e ON i.interface_id = e.interface_id
    WHERE i.module_id = any(p_module_array);
END;

COMMENT ON FUNCTION omd_facts.described_entities IS
'For rooms: Returns the entities of the interfaces whose loads the Modules p_module_array are: the '
'current view, the table of the Logical Validation Layer from which it is loaded, and the '
'attributes, which have one name in both. Locks: none.';
