-- The instances of a Module that a rollback takes with it are those with later ids. A block that
-- was taken again has a late id and an early place, so the place decides here.

CREATE OR REPLACE FUNCTION omd_lineage._go_back(
    p_topic_id integer,
    p_back omd_lineage.row_position,
    p_pending_array bigint[]
)
RETURNS bigint[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $go_back$
DECLARE
    v_topic omd_lineage.topic;
    v_from omd_lineage.row_position;
    v_readers text;
BEGIN
    SELECT t.* INTO v_topic FROM omd_lineage.topic AS t WHERE t.topic_id = p_topic_id;
    v_from := (SELECT o.last FROM omd_lineage.offsets AS o WHERE o.topic_id = p_topic_id);
    UPDATE omd_lineage.offsets AS o SET
        last = p_back,
        is_whole = FALSE,
        next = NULL,
        quiet_start = NULL,
        waited_for = NULL,
        attempts = 0
    WHERE o.topic_id = p_topic_id;

    SELECT string_agg(r.topic, ', ' ORDER BY r.distance, r.topic) INTO v_readers
    FROM omd_lineage._readers(p_topic_id, p_back, v_from) AS r
    WHERE NOT EXISTS (
        SELECT FROM omd_lineage.restatement AS x WHERE x.topic_id = r.topic_id
    );
    IF v_readers IS NOT NULL THEN
        v_readers := format('rows of %s are undone that %s read', v_topic.topic, v_readers);
        PERFORM omd.write_event(
            0, 0, 4, 'READERS',
            format(
                '%s. CALL omd_lineage.restate(%L, %L, %L, p_cascade => TRUE);',
                v_readers, v_topic.topic, p_back.pos, v_from.pos
            )
        );
        RAISE WARNING USING
            MESSAGE = v_readers,
            HINT = format(
                'CALL omd_lineage.restate(%L, %L, %L, p_cascade => TRUE);',
                v_topic.topic, p_back.pos, v_from.pos
            );
    END IF;
    RETURN ARRAY(
        SELECT w.module_instance_id
        FROM omd.succeeded_windows(
            v_topic.module_id, p_back.pos, p_back.id, 'infinity', 9223372036854775807
        ) AS w
        WHERE w.module_instance_id <> ALL(p_pending_array)
        ORDER BY w.module_instance_id
    );
END
$go_back$;

COMMENT ON FUNCTION omd_lineage._go_back IS
'Sets the offset of the topic p_topic_id back to p_back, since rows from there on are undone, and '
'warns when others have read them. Returns the instances that have read blocks beyond p_back and '
'are not in p_pending_array, which the begin undoes anyway. Locks: the offset.';
