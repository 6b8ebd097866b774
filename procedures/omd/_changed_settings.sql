-- What an executable has set for the rest of the session, with what it was before. BEGIN ATOMIC,
-- because who asks pins no search_path.

CREATE OR REPLACE FUNCTION omd._changed_settings(
    p_former jsonb,
    p_present jsonb
)
RETURNS TABLE (
    name text,
    value text
)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(was.key, is_now.key) AS name,
        was.value
    FROM jsonb_each_text(p_former) AS was
    FULL JOIN jsonb_each_text(p_present) AS is_now
        ON was.key = is_now.key
    WHERE was.value IS DISTINCT FROM is_now.value;
END;

COMMENT ON FUNCTION omd._changed_settings IS
'The settings that differ between two answers of _session_settings, p_former and p_present, with '
'their former value; NULL: none. Locks: none.';
REVOKE ALL ON FUNCTION omd._changed_settings FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._changed_settings TO omd_runner;
