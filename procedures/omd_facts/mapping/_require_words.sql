-- Delivery keeps what a model says for the facts without reading it, so it is checked here.

CREATE OR REPLACE FUNCTION omd_facts._require_words(
    p_registry jsonb,
    p_entity jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_words$
DECLARE
    v_facts jsonb := p_entity -> 'facts';
    v_code text := p_entity ->> 'entity_code';
    v_problem text;
    v_context jsonb;
BEGIN
    IF jsonb_typeof(v_facts) <> 'object' THEN
        PERFORM omd_facts._raise_mapping(p_registry, v_code, 'facts must be an object');
    END IF;
    SELECT format('unknown word "%s"', f.key) INTO v_problem
    FROM jsonb_each(v_facts) AS f
    WHERE f.key NOT IN (
        'contexts', 'context_of', 'kind', 'valid_end', 'subtype_of', 'generalization', 'key_root',
        'indexes', 'changes'
    )
    ORDER BY f.key
    LIMIT 1;
    IF v_problem IS NULL THEN
        SELECT
            CASE f.key
                WHEN 'contexts' THEN 'contexts must be a list'
                WHEN 'indexes' THEN 'indexes must be a list of lists of attributes'
                WHEN 'changes' THEN 'changes must be true or false'
                ELSE format('%s must be a text', f.key)
            END
        INTO v_problem
        FROM jsonb_each(v_facts) AS f
        WHERE CASE
            WHEN f.key IN ('contexts', 'indexes') THEN jsonb_typeof(f.value) <> 'array'
            WHEN f.key = 'changes' THEN jsonb_typeof(f.value) <> 'boolean'
            ELSE jsonb_typeof(f.value) <> 'string'
        END
        LIMIT 1;
    END IF;
    v_problem := CASE
        WHEN v_problem IS NOT NULL THEN v_problem
        WHEN (v_facts ? 'context_of') AND (
            v_facts ?| ARRAY['contexts', 'subtype_of', 'generalization', 'key_root']
        )
            THEN 'an entity that is a context of another one has no anchor of its own'
        WHEN (v_facts ? 'context_of')
            AND coalesce(v_facts ->> 'kind', '') NOT IN ('multi_active', 'bitemporal')
            THEN 'kind must be multi_active or bitemporal'
        WHEN NOT (v_facts ? 'context_of') AND (v_facts ?| ARRAY['kind', 'valid_end'])
            THEN 'kind and valid_end belong to a context_of'
        WHEN (v_facts ? 'valid_end') AND v_facts ->> 'kind' <> 'bitemporal'
            THEN 'valid_end belongs to a bitemporal context'
        WHEN EXISTS (
            SELECT FROM (VALUES ('generalization'), ('key_root')) AS w (word)
            WHERE v_facts ->> w.word !~ '^[a-z][a-z0-9_]{0,40}$'
        )
            THEN 'generalization and key_root must be codes'
    END;
    IF v_problem IS NULL AND v_facts ? 'contexts' THEN
        FOR v_context IN SELECT c.item FROM jsonb_array_elements(v_facts -> 'contexts') AS c (item)
        LOOP
            v_problem := CASE
                WHEN jsonb_typeof(v_context) <> 'object' THEN 'a context must be an object'
                WHEN v_context - ARRAY['name', 'kind', 'attributes'] <> '{}'
                    THEN 'a context has name, kind and attributes'
                WHEN coalesce(v_context ->> 'name', '') !~ '^[a-z][a-z0-9_]{0,40}$'
                    THEN 'the name of a context must be a code'
                WHEN coalesce(v_context ->> 'kind', 'standard')
                    NOT IN ('standard', 'immutable', 'alternate_key')
                    THEN 'the kind of a context is standard, immutable or alternate_key'
                WHEN v_context ->> 'name' = 'properties'
                    AND coalesce(v_context ->> 'kind', 'standard') <> 'standard'
                    THEN 'properties must be standard'
                WHEN jsonb_typeof(coalesce(v_context -> 'attributes', '[]')) <> 'array'
                    THEN 'attributes must be a list'
            END;
            EXIT WHEN v_problem IS NOT NULL;
        END LOOP;
    END IF;
    IF v_problem IS NOT NULL THEN
        PERFORM omd_facts._raise_mapping(p_registry, v_code, v_problem);
    END IF;
END
$require_words$;

COMMENT ON FUNCTION omd_facts._require_words IS
'Raises OM250 where the facts of p_entity in p_registry have a word that is unknown or out of '
'place. Locks: none.';
