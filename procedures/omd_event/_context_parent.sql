-- A namespace may be a URL, so the slashes of its beginning separate nothing.

CREATE OR REPLACE FUNCTION omd_event._context_parent(
    p_context jsonb,
    p_key text
)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        jsonb_build_object(
            'run', jsonb_build_object('runId', lower(m.parts[3])),
            'job', jsonb_build_object('namespace', m.parts[1], 'name', m.parts[2])
        )
    FROM
        regexp_match(
            CASE
                WHEN
                    jsonb_typeof(p_context -> p_key) = 'string'
                    AND length(p_context ->> p_key) <= 2000
                    AND p_context ->> p_key !~ '[[:cntrl:]]'
                    THEN p_context ->> p_key
            END,
            '^([A-Za-z][A-Za-z0-9+.-]*://[^/]+|[^/]+)/(.+)/'
            || '([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$'
        ) AS m (parts)
    WHERE m.parts IS NOT NULL;
END;

COMMENT ON FUNCTION omd_event._context_parent IS
'Returns run and job of the parent namespace/name/run_id that an execution context names under '
'p_key; NULL: it names none, or what it has is no such text. Locks: none.';
REVOKE ALL ON FUNCTION omd_event._context_parent FROM PUBLIC;
