-- Rows count that are in the Logical Validation Layer or on their way to the facts. An entity
-- without any may become anything.

CREATE OR REPLACE FUNCTION omd_delivery._require_no_loss(
    p_interface_id integer,
    p_old jsonb,
    p_new jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_no_loss$
DECLARE
    v_interface_code CONSTANT text := p_new ->> 'interface';
    v_problems jsonb;
    v_key record;
BEGIN
    SELECT
        jsonb_agg(jsonb_build_object('object', l.object, 'change', l.change) ORDER BY l.place)
    INTO v_problems
    FROM (
        SELECT c.*
        FROM omd_delivery._model_changes(p_old, p_new) AS c
        WHERE CASE c.kind
            WHEN 'entity' THEN c.new_value IS NULL OR c.property = 'key'
            WHEN 'attribute' THEN
                c.new_value IS NULL
                OR (
                    c.property = 'type'
                    AND NOT omd_delivery._type_widens(c.old_value #>> '{}', c.new_value #>> '{}')
                )
            ELSE FALSE
        END
    ) AS l
    INNER JOIN omd_delivery.entity AS e
        ON l.old_value IS NOT NULL
        AND e.interface_id = p_interface_id
        AND e.entity_code = coalesce(nullif(l.entity_code, ''), l.object_code)
    WHERE omd_delivery._has_rows(e.entity_id);
    IF v_problems IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM230',
            jsonb_build_object(
                'interface_code', v_interface_code,
                'object', v_problems -> 0 -> 'object',
                'change', v_problems -> 0 -> 'change',
                'problems', v_problems
            )
        );
    END IF;

    FOR v_key IN
        SELECT DISTINCT
            e.entity_id,
            c.entity_code,
            c.object_code,
            omd_delivery._names(
                coalesce(c.new_value -> 'attributes', c.new_value)
            ) AS attribute_codes
        FROM omd_delivery._model_changes(p_old, p_new) AS c
        INNER JOIN omd_delivery.entity AS e
            ON e.interface_id = p_interface_id AND c.entity_code = e.entity_code
        WHERE c.kind = 'alternate_key' AND c.new_value IS NOT NULL
        ORDER BY e.entity_id, c.object_code
    LOOP
        IF omd_delivery._has_duplicates(v_key.entity_id, v_key.attribute_codes) THEN
            PERFORM omd.raise_error(
                'OM231',
                jsonb_build_object(
                    'interface_code', v_interface_code,
                    'entity_code', v_key.entity_code,
                    'alternate_key_code', v_key.object_code,
                    'attribute_codes', v_key.attribute_codes
                )
            );
        END IF;
    END LOOP;
END
$require_no_loss$;

COMMENT ON FUNCTION omd_delivery._require_no_loss IS
'Refuses the model document p_new after p_old for the interface p_interface_id where its rows '
'stand against it. Errors: OM230: rows would be lost or reinterpreted; OM231: current rows break '
'an alternate key. Locks: none.';
