-- Clocks can't tell whether a look has seen what committed meanwhile; what it has seen tells.

CREATE OR REPLACE FUNCTION omd.note_news(
    p_module_id integer,
    p_news_at timestamptz
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_news$
BEGIN
    UPDATE omd.module_state AS s
    SET looked_datetime = least(s.looked_datetime, coalesce(p_news_at, '-infinity'))
    WHERE s.module_id = p_module_id AND s.looked_datetime IS NOT NULL;
END
$note_news$;

COMMENT ON FUNCTION omd.note_news IS
'For rooms: Call it after omd.note_look, in its transaction: the look of the Module p_module_id '
'had seen the news up to p_news_at (NULL: there was none), so what is newer ends its pause. Locks: '
'the state of the Module.';
