-- A notification names a topic by its number, and who has made a step knows its name, which is
-- never a number. Anybody may notify: what names no topic is passed over.

CREATE OR REPLACE FUNCTION omd_lineage.topics_heard(
    p_topics text[]
)
RETURNS integer[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $topics_heard$
DECLARE
    v_numbers CONSTANT integer[] := ARRAY(
        SELECT h.topic::integer FROM unnest(p_topics) AS h (topic)
        WHERE h.topic ~ '^[0-9]{1,9}$'
    );
BEGIN
    RETURN ARRAY(
        SELECT t.topic_id FROM omd_lineage.topic AS t
        WHERE t.topic = ANY(p_topics)
        UNION
        SELECT t.topic_id FROM omd_lineage.topic AS t
        WHERE t.topic_id = ANY(v_numbers)
    );
END
$topics_heard$;

COMMENT ON FUNCTION omd_lineage.topics_heard IS
'For rooms: Returns the topic_id of each of p_topics that is the name of a topic, or its number as '
'a notification of the channel omd_lineage has it. Locks: none.';
