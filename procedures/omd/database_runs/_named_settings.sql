-- pg_settings does not show settings that nothing defines, so those that the SQL names are read one
-- by one. Nor does this function set a search_path, so every name, type and operator is qualified.

CREATE OR REPLACE FUNCTION omd._named_settings(
    p_executable text
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
AS $named_settings$
DECLARE
    v_named pg_catalog.jsonb;
BEGIN
    SELECT pg_catalog.jsonb_object_agg(
        pg_catalog.lower(n.m[1]), pg_catalog.current_setting(n.m[1], TRUE)
    ) INTO v_named
    FROM pg_catalog.regexp_matches(
        p_executable, '([[:alpha:]_][[:alnum:]_$]*[.][[:alpha:]_][[:alnum:]_$]*)', 'g'
    ) AS n (m)
    WHERE pg_catalog.lower(n.m[1]) OPERATOR(pg_catalog.<>) 'omd.module_instance_id'
        AND pg_catalog.lower(n.m[1]) OPERATOR(pg_catalog.<>) 'omd.row_counts';
    RETURN coalesce(v_named, '{}'::pg_catalog.jsonb);
END
$named_settings$;

COMMENT ON FUNCTION omd._named_settings IS
'Returns the settings that the SQL p_executable names and nothing defines, as a JSON object of '
'name and value. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._named_settings TO omd_runner;
