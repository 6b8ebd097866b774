-- It is asked before a step looks for work: what commits meanwhile bears a time from before its
-- commit, and must count as newer than the look that has not seen it.

CREATE OR REPLACE FUNCTION omd_lineage._news_at(
    p_topic text
)
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $news_at$
BEGIN
    RETURN (
        SELECT
            greatest(
                (
                    SELECT max(d.moved_at) FROM omd_lineage.dependency_offsets AS d
                    WHERE d.topic_id = t.topic_id
                ),
                (
                    SELECT max(w.noted_datetime) FROM omd.open_window AS w
                    WHERE w.module_id = t.module_id
                )
            )
        FROM omd_lineage.topic AS t
        WHERE t.topic = p_topic
    );
END
$news_at$;

COMMENT ON FUNCTION omd_lineage._news_at IS
'Returns the time of the newest news for the topic p_topic that is visible: a move of a '
'dependency, or what a recall wants to come again; NULL when there is none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._news_at TO omd_runner;
