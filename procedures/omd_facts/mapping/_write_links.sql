-- A link is stored beside the first of its columns that is not in the key, since it changes with
-- it.

CREATE OR REPLACE FUNCTION omd_facts._write_links(
    p_registry jsonb,
    p_entity jsonb
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $write_links$
DECLARE
    v_id CONSTANT integer := (p_entity ->> 'entity_id')::integer;
    v_code CONSTANT text := p_entity ->> 'entity_code';
    v_relationship jsonb;
    v_columns text[];
    v_contexts integer[];
BEGIN
    FOR v_relationship IN
        SELECT r.item FROM jsonb_array_elements(p_entity -> 'relationships') AS r (item)
    LOOP
        v_columns := ARRAY(
            SELECT c.code
            FROM jsonb_array_elements_text(v_relationship -> 'columns')
                WITH ORDINALITY AS c (code, n)
            ORDER BY c.n
        );
        IF EXISTS (
            SELECT FROM omd_facts.entity AS p
            WHERE p.entity_id = (v_relationship ->> 'parent_entity_id')::integer
                AND p.entity_kind = 'CONTEXT'
        ) THEN
            PERFORM omd_facts._raise_mapping(
                p_registry, v_code,
                format('the parent of "%s" has no anchor', v_relationship ->> 'name')
            );
        END IF;
        -- The own key of a CONTEXT is in its context too.
        SELECT array_agg(DISTINCT a.context_id) INTO v_contexts
        FROM omd_facts.attribute AS a
        WHERE a.entity_id = v_id
            AND a.attribute_code = ANY(v_columns)
            AND a.context_id IS NOT NULL;
        -- Only the relationship that names the anchor of a CONTEXT is stored nowhere.
        IF v_contexts IS NULL THEN
            SELECT ARRAY[c.context_id] INTO v_contexts
            FROM omd_facts.entity AS e
            INNER JOIN omd_facts.context AS c USING (entity_id)
            WHERE e.entity_id = v_id
                AND e.entity_kind = 'CONTEXT'
                AND e.anchor_entity_id
                <> (v_relationship ->> 'parent_entity_id')::integer;
        END IF;
        IF cardinality(v_contexts) > 1 THEN
            PERFORM omd_facts._raise_mapping(
                p_registry, v_code,
                format('the columns of "%s" are in two contexts', v_relationship ->> 'name')
            );
        END IF;
        INSERT INTO omd_facts.link (
            entity_id, relationship_code, parent_entity_id, context_id, child_columns
        )
        VALUES (
            v_id,
            v_relationship ->> 'name',
            (v_relationship ->> 'parent_entity_id')::integer,
            v_contexts[1],
            v_columns
        );
    END LOOP;
END
$write_links$;

COMMENT ON FUNCTION omd_facts._write_links IS
'Writes the links of p_entity, an entity of p_registry. Errors: OM250: a parent has no anchor, '
'or the columns of one are in two contexts. Locks: its rows.';
