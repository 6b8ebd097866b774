-- The agreement binds the tenant, so a delivery may name fewer keys and further entities, and
-- nothing else.

CREATE OR REPLACE FUNCTION omd_delivery._require_context(
    p_interface_id integer,
    p_context jsonb,
    p_bound jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_context$
DECLARE
    v_item record;
    v_keys jsonb;
    v_context jsonb := '{}'::jsonb;
BEGIN
    IF p_context IS NULL OR p_context = 'null' THEN
        RETURN p_bound;
    ELSIF jsonb_typeof(p_context) <> 'object' THEN
        PERFORM omd_delivery._raise_argument(
            'p_context', p_context::text, 'it must be an object of entity and list of keys'
        );
    END IF;
    FOR v_item IN
        SELECT c.key, c.value, e.entity_id
        FROM jsonb_each(p_context) AS c
        LEFT JOIN omd_delivery.entity AS e
            ON e.interface_id = p_interface_id AND e.entity_code = c.key
        ORDER BY c.key COLLATE "C"
    LOOP
        IF v_item.entity_id IS NULL THEN
            PERFORM omd_delivery._raise_argument(
                'p_context', v_item.key, 'the interface has no such entity'
            );
        END IF;
        v_keys := omd_delivery._context_keys(v_item.entity_id, v_item.value);
        IF v_keys IS NULL THEN
            PERFORM omd_delivery._raise_argument(
                'p_context', jsonb_build_object(v_item.key, v_item.value)::text,
                'it must be a list of keys, each with all key attributes'
            );
        ELSIF p_bound ? v_item.key AND NOT p_bound -> v_item.key @> v_keys THEN
            PERFORM omd_delivery._raise_argument(
                'p_context', jsonb_build_object(v_item.key, v_item.value)::text,
                'the agreement names other keys, which a delivery may only narrow'
            );
        END IF;
        v_context := v_context || jsonb_build_object(v_item.key, v_keys);
    END LOOP;
    RETURN p_bound || v_context;
END
$require_context$;

COMMENT ON FUNCTION omd_delivery._require_context IS
'Returns the context p_context (entity and list of keys; NULL: none) of the interface '
'p_interface_id with typed keys, over p_bound, what the agreement names. Errors: OM036: it is no '
'context, or wider than p_bound. Locks: none.';
