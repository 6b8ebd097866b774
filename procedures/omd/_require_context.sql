-- A client reads nested JSON by recursion, so a report could not show a context that is nested too
-- deep. The size is checked first, because the search for the depth is recursive too.

CREATE OR REPLACE FUNCTION omd._require_context(
    p_execution_context jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $require_context$
BEGIN
    IF jsonb_typeof(p_execution_context) <> 'object'
        OR pg_column_size(p_execution_context) > 16384
        OR p_execution_context @? '$.**{9 to last}'
    THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_execution_context',
                'value', CASE
                    WHEN pg_column_size(p_execution_context) > 16384
                        THEN pg_size_pretty(pg_column_size(p_execution_context)::bigint)
                    ELSE left(p_execution_context::text, 200)
                END,
                'expected', 'a JSON object of at most 16 kB, nested at most 8 levels deep'
            )
        );
    END IF;
    RETURN p_execution_context;
END
$require_context$;

COMMENT ON FUNCTION omd._require_context IS
'Returns p_execution_context; NULL is accepted. Errors: OM013 (no JSON object, larger than 16 kB, '
'or nested more than 8 levels deep). Locks: none.';
REVOKE ALL ON FUNCTION omd._require_context FROM PUBLIC;
