-- The keys are in no error text.

CREATE OR REPLACE FUNCTION omd_provenance._subject(
    p_interface_code text,
    p_entity_code text,
    p_keys jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $subject$
DECLARE
    v_key record;
    v_targets record;
BEGIN
    p_interface_code := omd.require_argument('p_interface_code', p_interface_code);
    p_entity_code := omd.require_argument('p_entity_code', p_entity_code);
    p_keys := omd.require_argument('p_keys', p_keys);
    PERFORM omd.require_read_committed();
    v_key := omd_delivery.subject_key(p_interface_code, p_entity_code, p_keys);
    IF v_key.p_entity_id IS NULL OR v_key.p_typed_keys IS NULL THEN
        PERFORM omd.raise_error(
            'OM092',
            CASE
                WHEN v_key.p_entity_id IS NULL THEN
                    jsonb_build_object(
                        'object', 'entity', 'key', left(p_entity_code, 60),
                        'of', ' in the interface ' || left(p_interface_code, 60)
                    )
                ELSE
                    jsonb_build_object(
                        'object', 'list of keys, each an object of',
                        'key', array_to_string(v_key.p_key, ', '),
                        'of', ' of type ' || array_to_string(v_key.p_key_types, ', ')
                    )
            END
        );
    END IF;
    v_targets := omd_provenance._targets(p_interface_code, p_entity_code, v_key.p_key);
    RETURN jsonb_build_object(
        'interface', p_interface_code,
        'entity', p_entity_code,
        'key', to_jsonb(v_key.p_key),
        'types', to_jsonb(v_key.p_key_types),
        'keys', v_key.p_typed_keys,
        'targets', v_targets.p_targets,
        'references', v_targets.p_references
    );
END
$subject$;

COMMENT ON FUNCTION omd_provenance._subject IS
'Returns what the keys p_keys of the entity p_entity_code of the interface p_interface_code mean '
'to the rooms. Errors: OM005: an argument is NULL, OM014: the isolation level is not read '
'committed, OM092: there is no such entity, or p_keys is no list of its keys. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._subject TO omd_admin;
