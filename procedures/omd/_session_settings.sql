-- The function sets no search_path, since it would then see its own; so every name, type and
-- operator is qualified. pg_settings does not show settings that nothing defines, so those that the
-- SQL names are read one by one. It is PL/pgSQL, which keeps its plan: each run in the database
-- calls it twice.

CREATE OR REPLACE FUNCTION omd._session_settings(
    p_executable text
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
AS $session_settings$
DECLARE
    v_settings pg_catalog.jsonb;
    v_named pg_catalog.jsonb;
BEGIN
    SELECT pg_catalog.jsonb_object_agg(v.name, v.setting) INTO v_settings
    FROM pg_catalog.pg_show_all_settings() AS v
    WHERE v.source OPERATOR(pg_catalog.=) 'session'
        AND NOT pg_catalog.starts_with(v.name, 'transaction_');
    SELECT pg_catalog.jsonb_object_agg(
        pg_catalog.lower(n.m[1]), pg_catalog.current_setting(n.m[1], TRUE)
    ) INTO v_named
    FROM pg_catalog.regexp_matches(
        p_executable, '([[:alpha:]_][[:alnum:]_$]*[.][[:alpha:]_][[:alnum:]_$]*)', 'g'
    ) AS n (m)
    WHERE pg_catalog.lower(n.m[1]) OPERATOR(pg_catalog.<>) 'omd.module_instance_id'
        AND pg_catalog.lower(n.m[1]) OPERATOR(pg_catalog.<>) 'omd.row_counts';
    RETURN coalesce(v_settings, '{}'::pg_catalog.jsonb)
        OPERATOR(pg_catalog.||) coalesce(v_named, '{}'::pg_catalog.jsonb);
END
$session_settings$;

COMMENT ON FUNCTION omd._session_settings IS
'Returns the settings of this session that differ from its start, and those named in the SQL '
'p_executable, as a JSON object of name and value. Locks: none.';
REVOKE ALL ON FUNCTION omd._session_settings FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._session_settings TO omd_runner;
