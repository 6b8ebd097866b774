-- What an export begins by itself with is wrong when it is agreed, not in the night.

CREATE OR REPLACE FUNCTION omd_delivery._require_export(
    p_agreement omd_delivery.agreement
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_export$
DECLARE
    v_export CONSTANT jsonb := p_agreement.options -> 'export';
    v_problem text;
BEGIN
    IF v_export IS NULL THEN
        RETURN;
    END IF;
    v_problem := CASE
        WHEN p_agreement.layer_code <> 'EXPORT'
            THEN 'only an agreement of the layer EXPORT has it'
        WHEN jsonb_typeof(v_export) <> 'object'
            OR v_export - ARRAY['target_uri', 'mode', 'entities', 'every'] <> '{}'
            THEN 'it has target_uri, mode, entities and every'
        WHEN omd_delivery._location_problem(v_export -> 'target_uri') IS NOT NULL
            THEN 'target_uri: ' || omd_delivery._location_problem(v_export -> 'target_uri')
        WHEN v_export -> 'mode' NOT IN ('"FULL"', '"CHANGES"') THEN 'mode: it is FULL or CHANGES'
        WHEN v_export ? 'every' THEN
            'every: ' || omd_delivery._interval_problem(v_export -> 'every')
    END;
    IF v_problem IS NULL AND v_export ? 'entities' THEN
        IF jsonb_typeof(v_export -> 'entities') <> 'array' OR v_export -> 'entities' = '[]' THEN
            v_problem := 'entities: it must be a list of entities';
        ELSIF EXISTS (
            SELECT FROM jsonb_array_elements(v_export -> 'entities') AS l
            LEFT JOIN omd_delivery.entity AS e
                ON e.interface_id = p_agreement.interface_id
                    AND to_jsonb(e.entity_code) = l.value
                    AND NOT e.is_retired
                    AND (p_agreement.entity_ids IS NULL OR e.entity_id = ANY(p_agreement.entity_ids))
            WHERE e.entity_id IS NULL
        ) THEN
            v_problem := 'entities: the agreement does not have all of them';
        END IF;
    END IF;
    IF v_problem IS NOT NULL THEN
        PERFORM omd_delivery._raise_argument(
            'p_options', jsonb_build_object('export', v_export)::text, v_problem
        );
    END IF;
END
$require_export$;

COMMENT ON FUNCTION omd_delivery._require_export IS
'Refuses the agreement p_agreement when its option export can''t be performed. Errors: OM036: it '
'can''t. Locks: none.';
