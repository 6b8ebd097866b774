-- It sets no search_path, as those that it calls; so every name, type and operator is qualified.

CREATE OR REPLACE FUNCTION omd._session_settings(
    p_executable text
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
AS $session_settings$
BEGIN
    RETURN omd._listed_settings()
        OPERATOR(pg_catalog.||) omd._named_settings(p_executable);
END
$session_settings$;

COMMENT ON FUNCTION omd._session_settings IS
'Returns the settings of this session that differ from its start, and those named in the SQL '
'p_executable, as a JSON object of name and value. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._session_settings TO omd_runner;
