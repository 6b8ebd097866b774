-- What is not understood is kept and not sent, since nobody would notice a run that does not begin
-- for it.

CREATE OR REPLACE FUNCTION omd_event._context_problems(
    p_context jsonb
)
RETURNS TABLE (key text, expected text)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        k.key,
        k.expected
    FROM (
        VALUES
        ('openlineage_parent_id', 'namespace/name/run id'),
        ('openlineage_root_parent_id', 'namespace/name/run id'),
        ('traceparent', 'a traceparent of W3C Trace Context'),
        ('tracestate', 'a text of at most 512 characters'),
        ('airflow', 'an object'),
        ('dagster', 'an object'),
        ('dbt', 'an object')
    ) AS k (key, expected)
    WHERE
        p_context ? k.key
        AND CASE
            WHEN k.key LIKE 'openlineage%'
                THEN omd_event._context_parent(p_context, k.key) IS NULL
            WHEN jsonb_typeof(p_context -> k.key) = 'object' THEN k.key LIKE 'trace%'
            WHEN k.key NOT LIKE 'trace%' THEN TRUE
            WHEN jsonb_typeof(p_context -> k.key) <> 'string' THEN TRUE
            WHEN k.key = 'tracestate' THEN length(p_context ->> k.key) > 512
            ELSE
                p_context ->> k.key !~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}'
                OR p_context ->> k.key ~ '^(ff|..-0{32}|..-.{32}-0{16})'
        END;
END;

COMMENT ON FUNCTION omd_event._context_problems IS
'Returns the known keys of an execution context that have something else than they should, and '
'what that is. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_event._context_problems TO omd_reader;
