-- The log has what a load wrote. Who writes through views is known by its changes, where they are
-- kept, and else may have written each entity of the interface.

CREATE OR REPLACE FUNCTION omd_facts.written_entities(
    p_module_instance_id bigint
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $written_entities$
DECLARE
    v_interface_id integer;
    v_entity_ids integer[];
BEGIN
    SELECT l.interface_id, l.entity_ids INTO v_interface_id, v_entity_ids
    FROM omd_facts.load_log AS l
    WHERE l.module_instance_id = p_module_instance_id;
    IF NOT FOUND THEN
        SELECT g.interface_id INTO v_interface_id
        FROM omd_facts.gdal_delivery AS g
        WHERE g.module_instance_id = p_module_instance_id;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
        v_entity_ids := ARRAY(
            SELECT DISTINCT e.id
            FROM omd_facts.change AS c
            CROSS JOIN LATERAL unnest(c.entity_ids) AS e (id)
            WHERE c.module_instance_id = p_module_instance_id
        );
        IF v_entity_ids = '{}' THEN
            v_entity_ids := ARRAY(
                SELECT e.entity_id FROM omd_facts.entity AS e
                WHERE e.interface_id = v_interface_id
            );
        END IF;
    END IF;
    RETURN ARRAY(
        SELECT format('%I.%I', 'gdal_' || i.interface_code, e.entity_code)
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.interface AS i USING (interface_id)
        WHERE e.entity_id = ANY(v_entity_ids)
        ORDER BY e.entity_id
    );
END
$written_entities$;

COMMENT ON FUNCTION omd_facts.written_entities IS
'For rooms: returns the entities that the run p_module_instance_id may have written, by their '
'current views; NULL: it is no load and no writer of facts. Locks: none.';
