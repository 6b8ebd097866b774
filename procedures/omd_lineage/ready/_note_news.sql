-- What a step has seen before it looked for work, not when it looked, says what is newer.

CREATE OR REPLACE FUNCTION omd_lineage._note_news(
    p_topic_id integer,
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
    PERFORM omd.note_news(t.module_id, p_news_at) FROM omd_lineage.topic AS t
    WHERE t.topic_id = p_topic_id;
END
$note_news$;

COMMENT ON FUNCTION omd_lineage._note_news IS
'Records that the look which was noted last for the topic p_topic_id had seen the news up to '
'p_news_at. Locks: the state of its Module.';
GRANT EXECUTE ON FUNCTION omd_lineage._note_news TO omd_runner;
