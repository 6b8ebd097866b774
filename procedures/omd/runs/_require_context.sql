-- A client reads nested JSON by recursion, so a report could not show a context that is nested too
-- deep. The size is checked first, because the search for the depth is recursive too. The setting
-- omd.execution_context lets whoever starts a run tell every instance what it belongs to, without
-- an argument at each call between.

CREATE OR REPLACE FUNCTION omd._require_context(
    p_execution_context jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $require_context$
DECLARE
    v_setting text := nullif(current_setting('omd.execution_context', TRUE), '');
    v_given jsonb := p_execution_context;
    v_argument text := 'p_execution_context';
    v_value text;
BEGIN
    IF v_setting IS NOT NULL AND coalesce(jsonb_typeof(v_given), 'object') = 'object' THEN
        BEGIN
            v_given := coalesce(v_given, '{}') || v_setting::jsonb;
        EXCEPTION
            WHEN invalid_text_representation THEN
                v_argument := 'the setting omd.execution_context';
                v_value := left(v_setting, 200);
        END;
    END IF;
    IF v_value IS NULL AND (
        jsonb_typeof(v_given) <> 'object'
        OR pg_column_size(v_given) > 16384
        OR v_given @? '$.**{9 to last}'
    ) THEN
        v_value := CASE
            WHEN pg_column_size(v_given) > 16384
                THEN pg_size_pretty(pg_column_size(v_given)::bigint)
            ELSE left(v_given::text, 200)
        END;
    END IF;
    IF v_value IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', v_argument,
                'value', v_value,
                'expected', 'a JSON object of at most 16 kB, nested at most 8 levels deep'
            )
        );
    END IF;
    RETURN v_given;
END
$require_context$;

COMMENT ON FUNCTION omd._require_context IS
'Returns p_execution_context with the keys of the setting omd.execution_context, which win; NULL '
'is accepted. Errors: OM013 (no JSON object, larger than 16 kB, or nested more than 8 levels '
'deep). Locks: none.';
