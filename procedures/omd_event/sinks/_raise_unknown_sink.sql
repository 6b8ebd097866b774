-- It is called where a sink was not found.

CREATE OR REPLACE FUNCTION omd_event._raise_unknown_sink(
    p_sink_code text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_unknown_sink$
BEGIN
    p_sink_code := omd.require_argument('p_sink_code', p_sink_code);
    PERFORM omd.raise_error('OM095', jsonb_build_object('sink_code', p_sink_code));
END
$raise_unknown_sink$;

COMMENT ON FUNCTION omd_event._raise_unknown_sink IS
'Raises that there is no sink p_sink_code, or that none was named. Errors: OM005, OM095. Locks: '
'none.';
