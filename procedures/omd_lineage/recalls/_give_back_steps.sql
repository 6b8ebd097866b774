-- A step that only inserts has its block taken again by a run of its own, before new ones, and the
-- offset stays. One that replaces rows by key goes together with all later ones, so the offset goes
-- back. A table that a RELOAD made is empty until the next one.

CREATE OR REPLACE FUNCTION omd_lineage._give_back_steps(
    p_topic_id integer,
    p_instance_array bigint[],
    p_recall_instance_id bigint,
    p_recall_id bigint,
    p_reason text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $give_back_steps$
DECLARE
    v_topic record;
    v_back omd_lineage.row_position;
    v_id bigint;
BEGIN
    SELECT r.* INTO v_topic FROM omd_lineage._recalled_topics(p_instance_array) AS r
    WHERE r.topic_id = p_topic_id;
    IF v_topic.processor = 'RELOAD' THEN
        IF v_topic.reload_id = ANY(p_instance_array) THEN
            PERFORM omd.keep_window(v_topic.reload_id, p_recall_id, ARRAY[v_topic.reload_id]);
        END IF;
    ELSIF v_topic.replaces THEN
        SELECT i.start_value, i.start_id INTO v_back.pos, v_back.id
        FROM unnest(p_instance_array) AS g (id)
        CROSS JOIN LATERAL omd.instance_state(g.id) AS i
        WHERE i.start_value IS NOT NULL
        ORDER BY i.start_value, i.start_id
        LIMIT 1;
        UPDATE omd_lineage.offsets AS o SET
            last = least(o.last, v_back),
            is_whole = FALSE,
            next = NULL,
            quiet_start = NULL,
            waited_for = NULL,
            attempts = 0
        WHERE o.topic_id = p_topic_id AND v_back.pos IS NOT NULL;
    ELSE
        FOREACH v_id IN ARRAY p_instance_array LOOP
            PERFORM omd.keep_window(v_id, p_recall_id, ARRAY[v_id]);
        END LOOP;
    END IF;
    PERFORM omd.mark_taken_back(p_instance_array, p_recall_instance_id);
    PERFORM omd.write_event(
        p_recall_instance_id, 0, 5, 'RECALL',
        format(
            'recall %s took back steps %s of %s: %s',
            p_recall_id, array_to_string(p_instance_array, ', '), v_topic.topic, p_reason
        )
    );
    PERFORM omd_lineage._notify_topic(v_topic.topic);
END
$give_back_steps$;

COMMENT ON FUNCTION omd_lineage._give_back_steps IS
'Writes down that the steps p_instance_array of the topic p_topic_id, whose rows have gone, are '
'undone by p_recall_instance_id, the run of the recall p_recall_id, because of p_reason, and that '
'their blocks are to be taken again. Locks: the offset; the instances.';
GRANT EXECUTE ON FUNCTION omd_lineage._give_back_steps TO omd_admin;
