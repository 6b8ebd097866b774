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
DECLARE
    v_news_at timestamptz;
    v_topic_id integer;
BEGIN
    -- Most topics read what topics make, and then the view need not be asked.
    SELECT
        greatest(
            (
                SELECT max(w.noted_datetime) FROM omd.open_window AS w
                WHERE w.module_id = t.module_id
            ),
            s.moved_at
        ),
        CASE WHEN s.has_kinds THEN t.topic_id END
    INTO v_news_at, v_topic_id
    FROM omd_lineage.topic AS t
    CROSS JOIN LATERAL (
        SELECT
            max(o.waiting_since) AS moved_at,
            bool_or(d.source_kind_code IS NOT NULL) AS has_kinds
        FROM omd_lineage.dependency AS d
        LEFT JOIN omd_lineage.offsets AS o ON d.source_topic_id = o.topic_id
        WHERE d.topic_id = t.topic_id
    ) AS s
    WHERE t.topic = p_topic;
    IF v_topic_id IS NOT NULL THEN
        v_news_at := greatest(
            v_news_at,
            (
                SELECT max(d.moved_at) FROM omd_lineage.dependency_offsets AS d
                WHERE d.topic_id = v_topic_id
            )
        );
    END IF;
    RETURN v_news_at;
END
$news_at$;

COMMENT ON FUNCTION omd_lineage._news_at IS
'Returns the time of the newest news for the topic p_topic that is visible: a move of a '
'dependency, or what a recall wants to come again; NULL when there is none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._news_at TO omd_runner;
