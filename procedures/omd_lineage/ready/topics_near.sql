-- Who reads a table that another room has written, or what a topic makes. Views over a table are
-- not looked through: the whole list has them.

CREATE OR REPLACE FUNCTION omd_lineage.topics_near(
    p_module_ids integer[],
    p_topics text[],
    p_table_codes text[]
)
RETURNS TABLE (
    module_id integer,
    topic_id integer
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 10
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $topics_near$
#variable_conflict use_column
DECLARE
    v_moved integer[] := ARRAY(
        SELECT t.topic_id FROM omd_lineage.topic AS t
        WHERE t.module_id = ANY(p_module_ids)
        UNION
        SELECT h.topic_id FROM unnest(omd_lineage.topics_heard(p_topics)) AS h (topic_id)
    );
BEGIN
    RETURN QUERY
    SELECT t.module_id, t.topic_id
    FROM (
        SELECT m.topic_id FROM unnest(v_moved) AS m (topic_id)
        UNION
        SELECT d.topic_id FROM omd_lineage.dependency AS d
        WHERE d.source_topic_id = ANY(v_moved)
        UNION
        SELECT d.topic_id FROM omd_lineage.dependency AS d
        WHERE d.table_code = ANY(p_table_codes)
    ) AS n
    INNER JOIN omd_lineage.topic AS t ON n.topic_id = t.topic_id
    WHERE t.processor IS NOT NULL;
END
$topics_near$;

COMMENT ON FUNCTION omd_lineage.topics_near IS
'For rooms: Returns the topics p_topics and those of the Modules p_module_ids, and those that read '
'what these make, or one of p_table_codes: module_id and topic_id. Locks: none.';
