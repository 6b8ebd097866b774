-- An executable may change settings for the rest of the session, and the next Module must not see
-- them; the former values are needed to reset them. The body is BEGIN ATOMIC, because the caller
-- sets no search_path.

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
'Returns the settings that differ between two results of _session_settings, p_former and '
'p_present, with their former values; NULL when a setting had none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._changed_settings TO omd_runner;
