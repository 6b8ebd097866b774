-- A pattern that ends in its escape character fails when it is compared, which would stop the sink
-- for ever.

CREATE OR REPLACE FUNCTION omd_event._require_sink_fit(
    p_sink omd_event.sink
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_sink_fit$
DECLARE
    v_wrong record;
BEGIN
    SELECT w.argument, w.value, w.expected INTO v_wrong
    FROM (
        VALUES
        (
            'p_sink_kind', p_sink.sink_kind, 'OPENLINEAGE, WEBHOOK, COMMAND or PULL',
            p_sink.sink_kind NOT IN ('OPENLINEAGE', 'WEBHOOK', 'COMMAND', 'PULL')
        ),
        (
            'p_codes', p_sink.codes::text, 'an array of LIKE patterns, none of which ends in \',
            EXISTS (
                SELECT FROM unnest(p_sink.codes) AS c (pattern)
                WHERE c.pattern IS NULL OR c.pattern ~ '^(?:.*[^\\])?(?:\\\\)*\\$'
            )
        ),
        (
            'p_target', p_sink.target, 'an address that begins with http:// or https://',
            p_sink.sink_kind = 'WEBHOOK' AND coalesce(p_sink.target, '') !~ '^https?://[^\s/]\S*$'
        ),
        (
            'p_target', p_sink.target, 'the absolute path of a program',
            p_sink.sink_kind = 'COMMAND' AND coalesce(p_sink.target, '') !~ '^/.'
        ),
        (
            'p_format', p_sink.format, 'CLOUDEVENT or TEXT',
            p_sink.format NOT IN ('CLOUDEVENT', 'TEXT')
        ),
        (
            'p_secret_name', p_sink.secret_name,
            'the name of an environment variable that begins with OMD_SECRET_',
            p_sink.secret_name !~ '^OMD_SECRET_[A-Za-z0-9_]+$'
        ),
        (
            'p_timeout', p_sink.timeout::text, 'an interval of 1 ms to 1 day',
            p_sink.timeout NOT BETWEEN interval '1 ms' AND interval '1 day'
        ),
        (
            'p_inactive_indicator', p_sink.inactive_indicator, 'Y or N',
            p_sink.inactive_indicator NOT IN ('Y', 'N')
        ),
        (
            'p_sink_code', p_sink.sink_code, 'a text with a character that is seen',
            p_sink.sink_code !~ '\S'
        )
    ) AS w (argument, value, expected, is_wrong)
    WHERE w.is_wrong
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error('OM013', to_jsonb(v_wrong));
    END IF;
    PERFORM omd_event._require_event_types(p_sink.event_types);
END
$require_sink_fit$;

COMMENT ON FUNCTION omd_event._require_sink_fit IS
'Refuses a sink that can''t be sent to. Errors: OM013. Locks: none.';
