-- A planned block starts at the offset, and its retry must find both unchanged. A step that is to
-- be undone takes its topic back to the start of its block, wherever the offset is then.

CREATE OR REPLACE FUNCTION omd_lineage._require_unplanned(
    p_topic_id integer
)
RETURNS omd_lineage.row_position
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_unplanned$
DECLARE
    v_offset omd_lineage.offsets;
    v_topic omd_lineage.topic;
    v_instance_id bigint;
    v_problem text;
BEGIN
    SELECT o.* INTO v_offset FROM omd_lineage.offsets AS o
    WHERE o.topic_id = p_topic_id
    FOR NO KEY UPDATE;
    SELECT t.* INTO v_topic FROM omd_lineage.topic AS t WHERE t.topic_id = p_topic_id;
    SELECT min(i.id) INTO v_instance_id
    FROM omd.open_module_instances(v_topic.module_id) AS i (id)
    CROSS JOIN LATERAL omd.instance_state(i.id) AS s
    WHERE s.execution_status_code = 'S' AND i.id = ANY(omd.pending_rollback(v_topic.module_id));
    v_problem := CASE
        WHEN omd_lineage._holder_lives(v_offset.hostid, v_offset.module_instance_id)
            THEN format('while it is held by %s', v_offset.hostid)
        WHEN v_offset.next IS NOT NULL
            THEN
                format(
                    'while a block up to %s is planned; a step ends the block, and UPDATE '
                    'omd_lineage.offsets SET next = NULL WHERE topic = %L gives it up',
                    v_offset.next, v_offset.topic
                )
        WHEN v_offset.undone_from IS NOT NULL
            THEN
                format(
                    'while the block from %s is undone and not loaded again; a step loads it',
                    v_offset.undone_from
                )
        WHEN v_instance_id IS NOT NULL
            THEN
                format(
                    'before Module Instance %s is undone, which takes it back to its block; a step '
                    'does so', v_instance_id
                )
    END;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM208',
            jsonb_build_object(
                'topic', v_offset.topic,
                'problem', 'its offset can''t be set ' || v_problem
            )
        );
    END IF;
    RETURN v_offset.last;
END
$require_unplanned$;

COMMENT ON FUNCTION omd_lineage._require_unplanned IS
'Returns the offset of the topic p_topic_id and locks it until the transaction ends, so that it '
'can be set. Errors: OM208: the topic is held, a block is planned, or a step that succeeded waits '
'for its rollback. Locks: the offset.';
