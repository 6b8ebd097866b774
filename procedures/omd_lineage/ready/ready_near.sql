-- What has just been committed can have made these ready: who reads a topic that has moved, and the
-- topic itself.

CREATE OR REPLACE FUNCTION omd_lineage.ready_near(
    p_topics text[]
)
RETURNS TABLE (
    topic text,
    engine text,
    is_ready boolean
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
ROWS 1
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $ready_near$
DECLARE
    v_moved CONSTANT integer[] := omd_lineage.topics_heard(p_topics);
BEGIN
    RETURN QUERY
    SELECT r.topic, r.engine, r.is_ready
    FROM omd_lineage._ready_of(
        ARRAY(
            SELECT m.topic_id FROM unnest(v_moved) AS m (topic_id)
            UNION
            SELECT d.topic_id FROM omd_lineage.dependency AS d
            WHERE d.source_topic_id = ANY(v_moved)
        )
    ) AS r;
END
$ready_near$;

COMMENT ON FUNCTION omd_lineage.ready_near IS
'For the driver: '
'Returns p_topics, topics by name or by number, which have moved, and those that read them, as '
'omd_lineage.ready_list orders them: topic, engine, and whether it is ready. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage.ready_near TO omd_runner;
