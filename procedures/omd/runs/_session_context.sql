-- What is known of the session comes first, so the caller may say it better: the application behind
-- a pool, for instance.

CREATE OR REPLACE FUNCTION omd._session_context(
    p_execution_context jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL RESTRICTED
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $session_context$
BEGIN
    RETURN jsonb_build_object(
        'platform', 'POSTGRES',
        'pid', pg_backend_pid(),
        'application', current_setting('application_name')
    ) || coalesce(omd._require_context(p_execution_context), '{}');
END
$session_context$;

COMMENT ON FUNCTION omd._session_context IS
'Returns the execution context of a run in this session: platform, pid and application, and the '
'keys of p_execution_context, which win. Errors: OM013. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._session_context TO omd_runner;
