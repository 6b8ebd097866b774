-- What an executable has set for the rest of the session, with what it was before.

CREATE OR REPLACE FUNCTION omd._changed_settings(
    p_settings jsonb,
    p_executable text
)
RETURNS TABLE (
    name text,
    value text
)
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT
        coalesce(was.key, is_now.key) AS name,
        was.value
    FROM jsonb_each_text(p_settings) AS was
    FULL JOIN jsonb_each_text(omd._session_settings(p_executable)) AS is_now
        ON was.key = is_now.key
    WHERE was.value IS DISTINCT FROM is_now.value;
END;

COMMENT ON FUNCTION omd._changed_settings IS
'The settings that differ from what _session_settings(p_executable) has answered before '
'(p_settings), with their former value; NULL: none. Locks: none.';
REVOKE ALL ON FUNCTION omd._changed_settings FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._changed_settings TO omd_runner;
