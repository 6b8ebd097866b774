-- A topic waits for what is to come again in any table that it reads, by its dependencies or in its
-- views: rows may come at positions that it would have passed, and what it looks up would change.

CREATE OR REPLACE FUNCTION omd_lineage._awaits(
    p_topic_id integer
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $awaits$
BEGIN
    IF NOT EXISTS (SELECT FROM omd.awaited()) THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT a.waits_for FROM omd_lineage.awaiting_topics AS a WHERE a.topic_id = p_topic_id);
END
$awaits$;

COMMENT ON FUNCTION omd_lineage._awaits IS
'Returns what a recall took back and the topic p_topic_id must not read past; NULL: nothing. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._awaits TO omd_runner, omd_admin;
