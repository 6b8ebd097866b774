-- The function sets no search_path, since it would then see its own. pg_settings does not show
-- settings that nothing defines, so those that the SQL names are read one by one.

CREATE OR REPLACE FUNCTION omd._session_settings(
    p_executable text
)
RETURNS jsonb
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT coalesce(jsonb_object_agg(s.name, s.setting), '{}')
    FROM (
        SELECT
            v.name,
            v.setting
        FROM pg_settings AS v
        WHERE v.source = 'session' AND v.name NOT LIKE 'transaction\_%'
        UNION
        SELECT
            lower(m[1]) AS name,
            current_setting(m[1], TRUE) AS setting
        FROM
            regexp_matches(
                p_executable, '([[:alpha:]_][[:alnum:]_$]*[.][[:alpha:]_][[:alnum:]_$]*)', 'g'
            ) AS m
        WHERE lower(m[1]) NOT IN ('omd.module_instance_id', 'omd.row_counts')
    ) AS s;
END;

COMMENT ON FUNCTION omd._session_settings IS
'Returns the settings of this session that differ from its start, and those named in the SQL '
'p_executable, as a JSON object of name and value. Locks: none.';
REVOKE ALL ON FUNCTION omd._session_settings FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._session_settings TO omd_runner;
