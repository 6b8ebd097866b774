-- An id without a time can't be compared with the time of another table, nor with its ids. So a
-- topic that is read by the id alone has its base table only, and a base table that is made so is
-- read so. The caller has locked the dependencies.

CREATE OR REPLACE FUNCTION omd_lineage._require_one_kind(
    p_topic_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_one_kind$
DECLARE
    v_wrong record;
BEGIN
    -- What a source was known to hold by its times says nothing about its ids.
    UPDATE omd_lineage.offsets AS o SET last = NULL
    FROM omd_lineage.base_table AS b, omd_lineage.topic AS t
    WHERE o.topic_id = p_topic_id
        AND b.topic_id = p_topic_id
        AND t.topic_id = p_topic_id
        AND t.processor IS NULL
        AND b.pos_column = ''
        AND o.last_ts <> '-infinity';

    SELECT w.topic, w.problem INTO v_wrong
    FROM (
        SELECT
            t.topic,
            CASE
                WHEN b.is_lake AND t.processor IS NOT NULL AND t.engine <> 'SPARK'
                    THEN 'its base table is a lake table, which only engine SPARK reads'
                WHEN b.pos_column = '' AND cardinality(t.depends_on) > 1
                    THEN 'it is read by the id alone, so it can''t depend on a second table'
                WHEN b.pos_column = '' AND t.delay > interval '0'
                    THEN 'it is read by the id alone, so p_delay has no meaning'
                WHEN b.pos_column = '' AND t.max_wait IS NOT NULL
                    THEN 'it is read by the id alone, so p_max_wait has no meaning'
                WHEN b.pos_column = '' AND t.processor IS NULL AND t.source_offset = 'CLOCK'
                    THEN 'it is read by the id alone, so CLOCK has no meaning'
                WHEN b.pos_column = '' AND o.last_ts <> '-infinity'
                    THEN
                        'it is read by the id alone, but its offset has a time; give '
                        'p_start_pos => ''-infinity'' and p_start_id'
                WHEN b.pos_column = '' AND s.topic IS NOT NULL
                    THEN format('it is read by the id alone, but %s has a time', s.topic)
                WHEN s.topic IS NOT NULL
                    THEN format('it has a time, but %s is read by the id alone', s.topic)
            END AS problem
        FROM (
            SELECT p_topic_id
            UNION
            SELECT d.topic_id FROM omd_lineage.dependency AS d
            WHERE d.source_topic_id = p_topic_id
        ) AS touched (topic_id)
        INNER JOIN omd_lineage.topic AS t USING (topic_id)
        INNER JOIN omd_lineage.offsets AS o USING (topic_id)
        INNER JOIN omd_lineage.base_table AS b USING (topic_id)
        LEFT JOIN LATERAL (
            SELECT other.topic
            FROM omd_lineage.dependency AS d
            INNER JOIN omd_lineage.topic AS other ON d.source_topic_id = other.topic_id
            INNER JOIN omd_lineage.base_table AS ob ON d.source_topic_id = ob.topic_id
            WHERE d.topic_id = t.topic_id AND (b.pos_column = '') <> (ob.pos_column = '')
            ORDER BY other.topic
            LIMIT 1
        ) AS s ON TRUE
    ) AS w
    WHERE w.problem IS NOT NULL
    ORDER BY w.topic
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM211', jsonb_build_object('topic', v_wrong.topic, 'problem', v_wrong.problem)
        );
    END IF;
END
$require_one_kind$;

COMMENT ON FUNCTION omd_lineage._require_one_kind IS
'Refuses the topic p_topic_id where it, or a topic that depends on it, is read by the id alone and'
' has a dependency or an argument that needs a time, or reads a lake table and is not on Spark. A '
'source that is read by the id alone from now on loses its offset. Errors: OM211: it is so. Locks:'
' the offset of the source.';
