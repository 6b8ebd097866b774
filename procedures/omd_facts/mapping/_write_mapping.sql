-- What a model no longer has stays: its rows do too. Rows are inserted or brought to the registry,
-- so ids of contexts are stable.

CREATE OR REPLACE FUNCTION omd_facts._write_mapping(
    p_registry jsonb
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $write_mapping$
DECLARE
    v_interface_id CONSTANT integer := (p_registry ->> 'interface_id')::integer;
    v_code CONSTANT text := p_registry ->> 'interface_code';
    v_entity record;
    v_twice record;
BEGIN
    INSERT INTO omd_facts.interface AS i (interface_id, interface_code, model_version)
    VALUES (v_interface_id, v_code, (p_registry ->> 'model_version')::integer)
    ON CONFLICT (interface_id) DO UPDATE SET
        model_version = excluded.model_version,
        deployed_datetime = clock_timestamp()
    WHERE i.model_version <> excluded.model_version;
    DELETE FROM omd_facts.link AS l USING omd_facts.entity AS e
    WHERE l.entity_id = e.entity_id AND e.interface_id = v_interface_id;
    FOR v_entity IN
        SELECT e.item, o.load_order
        FROM omd_facts._load_orders(p_registry) AS o
        INNER JOIN jsonb_array_elements(p_registry -> 'entities') AS e (item)
            ON o.entity_id = (e.item ->> 'entity_id')::integer
        ORDER BY o.load_order
    LOOP
        PERFORM omd_facts._require_words(p_registry, v_entity.item);
        PERFORM omd_facts._write_entity(p_registry, v_entity.item, v_entity.load_order);
    END LOOP;
    FOR v_entity IN
        SELECT e.item FROM jsonb_array_elements(p_registry -> 'entities') AS e (item)
    LOOP
        PERFORM omd_facts._write_links(p_registry, v_entity.item);
    END LOOP;
    PERFORM omd_facts._require_unread(v_interface_id);
    -- A context that has lost its last attribute keeps no row of its own mapping.
    DELETE FROM omd_facts.context AS c USING omd_facts.entity AS e
    WHERE c.entity_id = e.entity_id
        AND e.interface_id = v_interface_id
        AND e.entity_kind <> 'CONTEXT'
        AND c.context_code <> 'properties'
        AND NOT EXISTS (
            SELECT FROM omd_facts.attribute AS a WHERE a.context_id = c.context_id
        );
    SELECT max(t.entity_code) AS entity_code, t.name INTO v_twice
    FROM (
        SELECT e.entity_code, e.anchor_table AS name
        FROM omd_facts.entity AS e
        WHERE e.interface_id = v_interface_id AND e.entity_kind <> 'CONTEXT'
        UNION ALL
        SELECT e.entity_code, c.context_table || p.suffix
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.context AS c USING (entity_id)
        CROSS JOIN (VALUES (''), ('_now'), ('_past')) AS p (suffix)
        WHERE e.interface_id = v_interface_id
    ) AS t
    GROUP BY t.name
    HAVING count(*) > 1
    ORDER BY t.name
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd_facts._raise_mapping(
            p_registry, v_twice.entity_code, format('two tables would be called %s', v_twice.name)
        );
    END IF;
END
$write_mapping$;

COMMENT ON FUNCTION omd_facts._write_mapping IS
'Writes the mapping of p_registry. Errors: OM250: the facts of a model say what can''t be, OM252: '
'somebody reads the changes of an entity that is to keep none. Locks: the rows of the interface.';
