-- An executable may change settings for the rest of the session, and the next Module must not see
-- them. The former values are needed to restore them.

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
'Returns the settings that differ from what _session_settings(p_executable) returned before '
'(p_settings), with their former values; NULL when there are none. Locks: none.';
REVOKE ALL ON FUNCTION omd._changed_settings FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._changed_settings TO omd_runner;
