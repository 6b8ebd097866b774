-- A step that runs may become one of the former runs, so a range ends only while no step holds its
-- topic; the end of that step looks again.

CREATE OR REPLACE FUNCTION omd_lineage._end_restatement(
    p_topic_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_restatement$
DECLARE
    v_topic text;
BEGIN
    WITH done AS (
        DELETE FROM omd_lineage.restatement AS r
        USING omd_lineage.topic AS t, omd_lineage.offsets AS o
        WHERE r.topic_id = p_topic_id
            AND t.topic_id = r.topic_id
            AND o.topic_id = r.topic_id
            AND CASE
                WHEN r.resume_position IS NOT NULL THEN o.last >= r.resume_position
                ELSE
                    t.processor <> 'RELOAD'
                    AND NOT omd_lineage._holder_lives(o.hostid, o.module_instance_id)
                    AND EXISTS (
                        SELECT FROM omd_lineage.restatement_list AS l
                        WHERE l.restatement_id = r.restatement_id AND l.is_ready
                    )
                    AND (omd_lineage._next_restated_block(r.restatement_id)).p_former_array IS NULL
            END
        RETURNING r.call_id
    )

    SELECT min(t.topic) INTO v_topic
    FROM done
    INNER JOIN omd_lineage.restatement AS r USING (call_id)
    INNER JOIN omd_lineage.topic AS t USING (topic_id)
    WHERE r.topic_id <> p_topic_id;
    -- The topics downstream may be ready now.
    IF v_topic IS NOT NULL THEN
        PERFORM omd_lineage._notify_topic(v_topic);
    END IF;
END
$end_restatement$;

COMMENT ON FUNCTION omd_lineage._end_restatement IS
'Removes the ranges of the topic p_topic_id that have no block left to be taken again. Locks: '
'these ranges.';
GRANT EXECUTE ON FUNCTION omd_lineage._end_restatement TO omd_runner;
