-- The valid start is the own key of a bitemporal context.

CREATE OR REPLACE FUNCTION omd_facts._require_validity(
    p_registry jsonb,
    p_entity_code text,
    p_context_id integer
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_validity$
DECLARE
    v_context omd_facts.context;
    v_keys text[];
    v_type text;
BEGIN
    SELECT c.* INTO v_context FROM omd_facts.context AS c WHERE c.context_id = p_context_id;
    SELECT array_agg(a.attribute_code), min(a.data_type) INTO v_keys, v_type
    FROM omd_facts.attribute AS a
    WHERE a.context_id = p_context_id AND a.key_position IS NOT NULL;
    IF v_context.context_kind <> 'bitemporal' THEN
        RETURN;
    ELSIF cardinality(v_keys) <> 1
        OR v_type NOT IN ('date', 'timestamp without time zone', 'timestamp with time zone')
    THEN
        PERFORM omd_facts._raise_mapping(
            p_registry, p_entity_code,
            'the own key of a bitemporal context is one date or timestamp, the valid start'
        );
    ELSIF v_context.valid_end IS NOT NULL AND NOT EXISTS (
        SELECT FROM omd_facts.attribute AS a
        WHERE a.context_id = p_context_id
            AND a.attribute_code = v_context.valid_end
            AND a.key_position IS NULL
            AND a.data_type = v_type
    ) THEN
        PERFORM omd_facts._raise_mapping(
            p_registry, p_entity_code,
            'valid_end is an attribute of the type of the valid start, outside of the key'
        );
    END IF;
END
$require_validity$;

COMMENT ON FUNCTION omd_facts._require_validity IS
'Raises OM250 where the valid start or the valid end of the context p_context_id is none. Locks: '
'none.';
