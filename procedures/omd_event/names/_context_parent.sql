-- A namespace may be a URL, so the slashes of its beginning separate nothing.

CREATE OR REPLACE FUNCTION omd_event._context_parent(
    p_context jsonb,
    p_key text
)
RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $context_parent$
DECLARE
    v_parts text[];
BEGIN
    IF jsonb_typeof(p_context -> p_key) = 'string'
        AND length(p_context ->> p_key) <= 2000
        AND p_context ->> p_key !~ '[[:cntrl:]]'
    THEN
        v_parts := regexp_match(
            p_context ->> p_key,
            '^([A-Za-z][A-Za-z0-9+.-]*://[^/]+|[^/]+)/(.+)/'
            || '([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$'
        );
    END IF;
    IF v_parts IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN jsonb_build_object(
        'run', jsonb_build_object('runId', lower(v_parts[3])),
        'job', jsonb_build_object('namespace', v_parts[1], 'name', v_parts[2])
    );
END
$context_parent$;

COMMENT ON FUNCTION omd_event._context_parent IS
'Returns run and job of the parent namespace/name/run_id that an execution context names under '
'p_key; NULL: it names none, or what it has is no such text. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_event._context_parent TO omd_reader;
