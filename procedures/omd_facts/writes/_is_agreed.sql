-- As in a delivery, an entity that the context names has keys of its own, and any other one is
-- bound by its parents through the relationships that filter. Key values are compared as a context
-- has them: as their types print them, in UTC.

CREATE OR REPLACE FUNCTION omd_facts._is_agreed(
    p_terms jsonb,
    p_entity_id integer,
    p_row jsonb
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
AS $is_agreed$
DECLARE
    v_columns text;
    v_filter record;
    v_key jsonb;
BEGIN
    SELECT string_agg(format('%I %s', a.attribute_code, a.data_type), ', ') INTO v_columns
    FROM omd_facts.attribute AS a
    WHERE a.entity_id = p_entity_id AND a.key_position IS NOT NULL;
    EXECUTE format('SELECT to_jsonb(k) FROM jsonb_to_record($1) AS k (%s)', v_columns)
    INTO v_key USING p_row;
    IF p_terms -> 'context' ? p_entity_id::text THEN
        RETURN p_terms -> 'context' -> p_entity_id::text @> jsonb_build_array(v_key);
    END IF;
    -- A parent that is named nowhere above filters nothing.
    FOR v_filter IN
        WITH RECURSIVE bound AS (
            SELECT c.key::integer AS entity_id FROM jsonb_object_keys(p_terms -> 'context') AS c (key)
            UNION
            SELECT (f.item ->> 'child_entity_id')::integer
            FROM bound AS b
            INNER JOIN jsonb_array_elements(p_terms -> 'filters') AS f (item)
                ON b.entity_id = (f.item ->> 'parent_entity_id')::integer
        )

        SELECT
            (f.item ->> 'parent_entity_id')::integer AS parent_id,
            (
                SELECT jsonb_object_agg(c.key, p_row -> c.value)
                FROM jsonb_each_text(f.item -> 'columns') AS c
            ) AS parent_key
        FROM jsonb_array_elements(p_terms -> 'filters') AS f (item)
        WHERE (f.item ->> 'child_entity_id')::integer = p_entity_id
            AND (f.item ->> 'parent_entity_id')::integer <> p_entity_id
            AND (f.item ->> 'parent_entity_id')::integer IN (SELECT b.entity_id FROM bound AS b)
    LOOP
        IF jsonb_path_exists(v_filter.parent_key, '$.* ? (@ == null)') THEN
            RETURN FALSE;
        END IF;
        IF NOT (p_terms -> 'context' ? v_filter.parent_id::text) THEN
            v_filter.parent_key := omd_facts._current_row(v_filter.parent_id, v_filter.parent_key);
            -- Another error reports that there is no parent.
            CONTINUE WHEN v_filter.parent_key IS NULL;
        END IF;
        IF NOT omd_facts._is_agreed(p_terms, v_filter.parent_id, v_filter.parent_key) THEN
            RETURN FALSE;
        END IF;
    END LOOP;
    RETURN TRUE;
END
$is_agreed$;

COMMENT ON FUNCTION omd_facts._is_agreed IS
'Returns whether the context in p_terms (omd_delivery.write_terms) has the row p_row of the entity '
'p_entity_id. Locks: none.';
