-- The three ways to name entities are brought into one before anything is checked.

CREATE OR REPLACE FUNCTION omd_delivery._delivered_entities(
    p_agreement omd_delivery.agreement,
    p_entities jsonb
)
RETURNS TABLE (
    entity_id integer,
    entity_code text,
    load_type text,
    context_type text,
    rows_announced bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $delivered_entities$
DECLARE
    v_asked jsonb;
    v_item record;
    v_problem text;
BEGIN
    IF p_entities IS NULL OR p_entities = 'null' THEN
        SELECT jsonb_object_agg(e.entity_code, '{}'::jsonb) INTO v_asked
        FROM omd_delivery.entity AS e
        WHERE e.interface_id = p_agreement.interface_id
            AND NOT e.is_retired
            AND NOT e.is_derived
            AND (p_agreement.entity_ids IS NULL OR e.entity_id = ANY(p_agreement.entity_ids));
    ELSIF jsonb_typeof(p_entities) = 'array' AND NOT EXISTS (
        SELECT FROM jsonb_array_elements(p_entities) AS l WHERE jsonb_typeof(l.value) <> 'string'
    ) THEN
        SELECT jsonb_object_agg(l.code, '{}'::jsonb) INTO v_asked
        FROM jsonb_array_elements_text(p_entities) AS l (code);
    ELSIF jsonb_typeof(p_entities) = 'object' THEN
        SELECT
            jsonb_object_agg(
                o.key,
                CASE jsonb_typeof(o.value)
                    WHEN 'string' THEN jsonb_build_object('load', o.value)
                    WHEN 'null' THEN '{}'
                    ELSE o.value
                END
            )
        INTO v_asked
        FROM jsonb_each(p_entities) AS o;
    END IF;
    IF coalesce(v_asked, '{}') = '{}' THEN
        PERFORM omd_delivery._raise_argument(
            'p_entities', p_entities::text, 'it must name an entity, in a list or an object'
        );
    END IF;

    FOR v_item IN
        SELECT o.key AS code, o.value AS said, e.entity_id, e.is_derived, e.derived_from
        FROM jsonb_each(v_asked) AS o
        LEFT JOIN omd_delivery.entity AS e
            ON e.interface_id = p_agreement.interface_id
                AND e.entity_code = o.key
                AND NOT e.is_retired
        ORDER BY o.key COLLATE "C"
    LOOP
        v_problem := CASE
            WHEN v_item.entity_id IS NULL THEN 'the interface has no such entity'
            WHEN v_item.is_derived AND NOT v_asked ?& v_item.derived_from
                THEN 'it is derived from entities that are not delivered'
            WHEN NOT v_item.is_derived
                AND NOT coalesce(v_item.entity_id = ANY(p_agreement.entity_ids), TRUE)
                THEN 'the agreement does not have it'
            WHEN jsonb_typeof(v_item.said) <> 'object'
                OR v_item.said - ARRAY['load', 'context', 'rows'] <> '{}'
                THEN 'an entity is said by load, context and rows'
            WHEN v_item.said ? 'load' AND v_item.said -> 'load' NOT IN ('"FULL"', '"DELTA"')
                THEN 'load must be FULL or DELTA'
            WHEN v_item.said ? 'context' AND v_item.said -> 'context' NOT IN ('"ALL"', '"ROWS"')
                THEN 'context must be ALL or ROWS'
            WHEN v_item.said ? 'context' AND v_item.said ->> 'load' = 'DELTA'
                THEN 'the rows of a Delta are its context'
            WHEN v_item.said ? 'rows' AND v_item.said ->> 'rows' !~ '^[0-9]{1,18}$'
                THEN 'rows must be a number of rows'
        END;
        IF v_problem IS NOT NULL THEN
            PERFORM omd_delivery._raise_argument(
                'p_entities', jsonb_build_object(v_item.code, v_item.said)::text, v_problem
            );
        END IF;
    END LOOP;

    -- A derived entity is Full if all that it is derived from are.
    FOR v_item IN
        SELECT
            e.entity_code AS code,
            coalesce(v_asked -> e.entity_code, '{}') AS said,
            CASE
                WHEN EXISTS (
                    SELECT FROM unnest(e.derived_from) AS f (code)
                    WHERE v_asked -> f.code ->> 'load' = 'DELTA'
                ) THEN 'DELTA'
                ELSE 'FULL'
            END AS load_type
        FROM omd_delivery.entity AS e
        WHERE e.interface_id = p_agreement.interface_id
            AND e.is_derived
            AND NOT e.is_retired
            AND v_asked ?& e.derived_from
        ORDER BY e.ordinal
    LOOP
        IF coalesce(v_item.said ->> 'load', v_item.load_type) <> v_item.load_type
            OR (v_item.load_type = 'DELTA' AND v_item.said ? 'context')
        THEN
            PERFORM omd_delivery._raise_argument(
                'p_entities',
                jsonb_build_object(v_item.code, v_item.said)::text,
                'it is derived, and ' || v_item.load_type || ' as what it is derived from'
            );
        END IF;
        v_asked := v_asked || jsonb_build_object(
            v_item.code, v_item.said || jsonb_build_object('load', v_item.load_type)
        );
    END LOOP;
    RETURN QUERY
    SELECT
        e.entity_id,
        e.entity_code,
        coalesce(o.value ->> 'load', 'FULL'),
        o.value ->> 'context',
        (o.value ->> 'rows')::bigint
    FROM jsonb_each(v_asked) AS o
    INNER JOIN omd_delivery.entity AS e
        ON e.interface_id = p_agreement.interface_id AND e.entity_code = o.key
    ORDER BY e.ordinal;
END
$delivered_entities$;

COMMENT ON FUNCTION omd_delivery._delivered_entities IS
'Returns the entities that a delivery under p_agreement has when its sender says p_entities, '
'those that are derived from them too. Errors: OM036: it says what is not allowed. Locks: none.';
