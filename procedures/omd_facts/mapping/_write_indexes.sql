-- An index is about open rows of one context.

CREATE OR REPLACE FUNCTION omd_facts._write_indexes(
    p_registry jsonb,
    p_entity_id integer,
    p_entity_code text,
    p_indexes jsonb
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $write_indexes$
DECLARE
    v_index jsonb;
    v_context_id integer;
BEGIN
    FOR v_index IN
        SELECT i.item FROM jsonb_array_elements(coalesce(p_indexes, '[]')) AS i (item)
    LOOP
        v_context_id := NULL;
        IF jsonb_typeof(v_index) = 'array' THEN
            SELECT a.context_id INTO v_context_id
            FROM omd_facts.attribute AS a
            WHERE a.entity_id = p_entity_id
                AND a.context_id IS NOT NULL
                AND v_index ? a.attribute_code
            GROUP BY a.context_id
            HAVING count(*) = jsonb_array_length(v_index);
        END IF;
        IF v_context_id IS NULL THEN
            PERFORM omd_facts._raise_mapping(
                p_registry, p_entity_code, 'an index is a list of attributes of one context'
            );
        END IF;
        UPDATE omd_facts.context AS c SET indexes = c.indexes || jsonb_build_array(v_index)
        WHERE c.context_id = v_context_id;
    END LOOP;
END
$write_indexes$;

COMMENT ON FUNCTION omd_facts._write_indexes IS
'Writes the indexes p_indexes of the entity p_entity_id. Errors: OM250: one is no list of '
'attributes of one context. Locks: its contexts.';
