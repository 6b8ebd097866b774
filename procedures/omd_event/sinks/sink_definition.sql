-- An address may hold a secret, so readers don't see it; senders do.

CREATE OR REPLACE FUNCTION omd_event.sink_definition(
    p_sink_code text
)
RETURNS TABLE (
    sink_code text,
    sink_kind text,
    event_types text[],
    codes text[],
    target text,
    format text,
    secret_name text,
    timeout interval,
    inactive_indicator text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $sink_definition$
BEGIN
    RETURN QUERY
    SELECT
        s.sink_code,
        s.sink_kind,
        s.event_types,
        s.codes,
        s.target,
        s.format,
        s.secret_name,
        s.timeout,
        s.inactive_indicator
    FROM omd_event.sink AS s
    WHERE s.sink_code = p_sink_code;
    IF NOT FOUND THEN
        PERFORM omd_event._raise_unknown_sink(p_sink_code);
    END IF;
END
$sink_definition$;

COMMENT ON FUNCTION omd_event.sink_definition IS
'For the driver: '
'Returns how the sink p_sink_code is registered, for its sender. May be NULL: event_types, codes, '
'target, format, secret_name, timeout. Errors: OM005, OM095. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_event.sink_definition TO omd_runner, omd_admin;
