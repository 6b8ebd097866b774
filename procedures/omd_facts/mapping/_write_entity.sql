-- An attribute is stored in the anchor when it is in the key, in the first context that names it,
-- or in properties.

CREATE OR REPLACE FUNCTION omd_facts._write_entity(
    p_registry jsonb,
    p_entity jsonb,
    p_load_order integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $write_entity$
DECLARE
    v_facts CONSTANT jsonb := p_entity -> 'facts';
    v_code CONSTANT text := p_entity ->> 'entity_code';
    v_id CONSTANT integer := (p_entity ->> 'entity_id')::integer;
    v_keys text[];
    v_parent_word text;
    v_relationships jsonb;
    v_parent omd_facts.entity;
    v_kind text;
    v_context record;
    v_context_id integer;
    v_other text;
BEGIN
    SELECT array_agg(a.item ->> 'attribute_code' ORDER BY (a.item ->> 'key_position')::integer)
    INTO v_keys
    FROM jsonb_array_elements(p_entity -> 'attributes') AS a (item)
    WHERE a.item ->> 'key_position' IS NOT NULL;
    v_parent_word := coalesce(v_facts ->> 'context_of', v_facts ->> 'subtype_of');
    IF v_parent_word IS NOT NULL THEN
        SELECT jsonb_agg(r.item) INTO v_relationships
        FROM jsonb_array_elements(p_entity -> 'relationships') AS r (item)
        INNER JOIN jsonb_array_elements(p_registry -> 'entities') AS p (item)
            ON r.item -> 'parent_entity_id' = p.item -> 'entity_id'
        WHERE p.item ->> 'entity_code' = v_parent_word AND omd_facts._is_in_key(p_entity, r.item);
        IF jsonb_array_length(v_relationships) IS DISTINCT FROM 1 THEN
            PERFORM omd_facts._raise_mapping(
                p_registry, v_code,
                format('it needs one relationship to %s that lies in its key', v_parent_word)
            );
        END IF;
        SELECT e.* INTO v_parent
        FROM omd_facts.entity AS e
        WHERE e.entity_id = (v_relationships -> 0 ->> 'parent_entity_id')::integer;
        IF v_parent.entity_kind = 'CONTEXT' THEN
            PERFORM omd_facts._raise_mapping(
                p_registry, v_code, format('%s has no anchor', v_parent_word)
            );
        ELSIF v_facts ? 'subtype_of'
            AND jsonb_array_length(v_relationships -> 0 -> 'columns') <> cardinality(v_keys)
        THEN
            PERFORM omd_facts._raise_mapping(
                p_registry, v_code, 'the key of a subtype is that of its supertype'
            );
        ELSIF v_facts ? 'context_of'
            AND jsonb_array_length(v_relationships -> 0 -> 'columns') = cardinality(v_keys)
        THEN
            PERFORM omd_facts._raise_mapping(
                p_registry, v_code, 'its key must be longer than that of its parent'
            );
        END IF;
    END IF;
    v_kind := CASE
        WHEN v_facts ? 'context_of' THEN 'CONTEXT'
        WHEN EXISTS (
            SELECT FROM jsonb_array_elements(p_entity -> 'relationships') AS r (item)
            WHERE omd_facts._is_in_key(p_entity, r.item)
        )
            THEN 'DEPENDENT'
        ELSE 'INDEPENDENT'
    END;
    INSERT INTO omd_facts.entity (
        entity_id, interface_id, entity_code, entity_kind, anchor_entity_id, anchor_table,
        supertype_id, generalization_code, key_root_code, load_order, keeps_changes
    )
    VALUES (
        v_id,
        (p_registry ->> 'interface_id')::integer,
        v_code,
        v_kind,
        CASE v_kind WHEN 'CONTEXT' THEN v_parent.entity_id ELSE v_id END,
        CASE v_kind
            WHEN 'CONTEXT' THEN v_parent.anchor_table
            WHEN 'DEPENDENT' THEN 'l_' || v_code
            ELSE 'h_' || v_code
        END,
        CASE WHEN v_facts ? 'subtype_of' THEN v_parent.entity_id END,
        v_facts ->> 'generalization',
        v_facts ->> 'key_root',
        p_load_order,
        coalesce((v_facts ->> 'changes')::boolean, FALSE)
    )
    ON CONFLICT (entity_id) DO UPDATE SET
        entity_kind = excluded.entity_kind,
        anchor_entity_id = excluded.anchor_entity_id,
        anchor_table = excluded.anchor_table,
        supertype_id = excluded.supertype_id,
        generalization_code = excluded.generalization_code,
        key_root_code = excluded.key_root_code,
        load_order = excluded.load_order,
        keeps_changes = excluded.keeps_changes;
    PERFORM FROM omd_facts.entity AS e
    WHERE e.key_root_code = v_facts ->> 'generalization'
        OR e.generalization_code = v_facts ->> 'key_root';
    IF FOUND THEN
        PERFORM omd_facts._raise_mapping(
            p_registry, v_code, 'a generalization and a key root have the same name'
        );
    END IF;
    INSERT INTO omd_facts.attribute (
        entity_id, attribute_code, ordinal, data_type, is_mandatory, key_position, context_id
    )
    SELECT
        v_id,
        a.item ->> 'attribute_code',
        (a.item ->> 'ordinal')::integer,
        a.item ->> 'data_type',
        -- What is delivered no longer can't be asked for.
        (a.item ->> 'is_mandatory')::boolean AND NOT (a.item ->> 'is_retired')::boolean,
        (a.item ->> 'key_position')::integer,
        NULL
    FROM jsonb_array_elements(p_entity -> 'attributes') AS a (item)
    ON CONFLICT (entity_id, attribute_code) DO UPDATE SET
        ordinal = excluded.ordinal,
        data_type = excluded.data_type,
        is_mandatory = excluded.is_mandatory,
        key_position = excluded.key_position,
        context_id = NULL;

    IF v_kind = 'CONTEXT' THEN
        v_context_id := omd_facts._write_context(
            v_id, v_code, v_facts ->> 'kind',
            format('s_%s_%s', v_parent.entity_code, v_code), v_facts ->> 'valid_end'
        );
        UPDATE omd_facts.attribute AS a SET context_id = v_context_id
        WHERE a.entity_id = v_id
            AND NOT v_relationships -> 0 -> 'columns' ? a.attribute_code;
        PERFORM omd_facts._require_validity(p_registry, v_code, v_context_id);
    ELSE
        FOR v_context IN
            SELECT s.* FROM omd_facts._stated_contexts(p_entity) AS s
        LOOP
            IF v_context.context_code = 'properties' AND v_context.context_kind <> 'standard' THEN
                PERFORM omd_facts._raise_mapping(
                    p_registry, v_code, 'properties must be standard'
                );
            END IF;
            v_context_id := omd_facts._write_context(
            v_id, v_context.context_code, v_context.context_kind,
                format('s_%s_%s', v_code, v_context.context_code), NULL
            );
            SELECT c.code INTO v_other
            FROM unnest(v_context.attributes) AS c (code)
            LEFT JOIN omd_facts.attribute AS a
                ON a.entity_id = v_id
                    AND c.code = a.attribute_code
                    AND a.key_position IS NULL
                    AND a.context_id IS NULL
            WHERE a.entity_id IS NULL
            LIMIT 1;
            IF FOUND THEN
                PERFORM omd_facts._raise_mapping(
                    p_registry, v_code,
                    format(
                        'attribute "%s" of context "%s" is unknown, in the key, or in two contexts',
                        v_other, v_context.context_code
                    )
                );
            END IF;
            UPDATE omd_facts.attribute AS a SET context_id = v_context_id
            WHERE a.entity_id = v_id AND a.attribute_code = ANY(v_context.attributes);
        END LOOP;
        v_context_id := omd_facts._write_context(
            v_id, 'properties', 'standard', format('s_%s_properties', v_code), NULL
        );
        UPDATE omd_facts.attribute AS a SET context_id = v_context_id
        WHERE a.entity_id = v_id AND a.key_position IS NULL AND a.context_id IS NULL;
    END IF;
    PERFORM omd_facts._write_indexes(p_registry, v_id, v_code, v_facts -> 'indexes');
END
$write_entity$;

COMMENT ON FUNCTION omd_facts._write_entity IS
'Writes the mapping of p_entity, an entity of p_registry, at the place p_load_order. Errors: '
'OM250: its facts say what can''t be. Locks: its rows.';
