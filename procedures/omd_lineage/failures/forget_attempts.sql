-- The planned block stays, so that no row is skipped. The attempt of a step that executes has begun
-- already, and counts if it fails.

CREATE OR REPLACE FUNCTION omd_lineage.forget_attempts(
    p_module_id integer,
    p_name text,
    OUT p_its_module_id integer,
    OUT p_was boolean
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $forget_attempts$
DECLARE
    v_topic omd_lineage.topic;
BEGIN
    IF p_module_id IS NOT NULL THEN
        SELECT t.* INTO v_topic FROM omd_lineage.topic AS t WHERE t.module_id = p_module_id;
    ELSE
        SELECT t.* INTO v_topic FROM omd_lineage.topic AS t
        WHERE t.topic IN (p_name, (omd_lineage._topic_parts(p_name)).p_canonical_topic)
        ORDER BY t.topic = p_name DESC
        LIMIT 1;
    END IF;
    IF v_topic.topic_id IS NULL THEN
        RETURN;
    ELSIF v_topic.processor IS NULL THEN
        PERFORM omd.raise_error(
            'OM208',
            jsonb_build_object('topic', v_topic.topic, 'problem', 'it is a source and has no steps')
        );
    END IF;
    SELECT o.attempts > 0 INTO p_was FROM omd_lineage.offsets AS o
    WHERE o.topic_id = v_topic.topic_id
    FOR UPDATE;
    UPDATE omd_lineage.offsets AS o SET
        attempts = CASE
            WHEN omd_lineage._holder_lives(o.hostid, o.module_instance_id)
                THEN least(o.attempts, 1)
            ELSE 0
        END,
        run = '-infinity'
    WHERE o.topic_id = v_topic.topic_id;
    PERFORM omd_lineage._notify_topic(v_topic.topic);
    p_its_module_id := v_topic.module_id;
END
$forget_attempts$;

COMMENT ON FUNCTION omd_lineage.forget_attempts IS
'For rooms: Sets the attempts of the topic of the Module p_module_id (NULL: of the topic p_name) '
'to 0, or to 1 while a step of it executes, and makes it due at once; a planned block stays the '
'same. omd.retry calls it. Returns p_its_module_id, its Module, NULL where there is no such topic; '
'and p_was, whether there were attempts. Errors: OM208: it is a source. Locks: the offset.';
