-- The procedure clears what keeps a topic from running; the planned block stays, so that no row is
-- skipped. The attempt of a step that executes has begun already, and counts if it fails.

CREATE OR REPLACE PROCEDURE omd_lineage.retry(
    p_topic text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $retry$
DECLARE
    v_topic_id integer := omd_lineage._require_topic(p_topic);
    v_module_code text;
    v_was boolean;
BEGIN
    UPDATE omd_lineage.offsets AS o SET
        attempts = CASE
            WHEN omd_lineage._holder_lives(o.hostid, o.module_instance_id)
                THEN least(o.attempts, 1)
            ELSE 0
        END,
        run = '-infinity'
    FROM omd_lineage.topic AS t
    WHERE o.topic_id = v_topic_id AND t.topic_id = v_topic_id AND t.processor IS NOT NULL;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM208',
            jsonb_build_object('topic', p_topic, 'problem', 'it is a source and has no steps')
        );
    END IF;
    SELECT m.module_code INTO v_module_code
    FROM omd_lineage.topic AS t
    INNER JOIN omd.module_target AS m USING (module_id)
    WHERE t.topic_id = v_topic_id;
    CALL omd.retry(v_module_code, v_was);
    PERFORM omd_lineage._notify_topic(o.topic) FROM omd_lineage.offsets AS o
    WHERE o.topic_id = v_topic_id;
END
$retry$;

COMMENT ON PROCEDURE omd_lineage.retry IS
'Sets the attempts of the topic p_topic to 0, or to 1 while a step of it executes, forgets the '
'failures of its Module as omd.retry does, and makes it due at once; a planned block stays the '
'same. Errors: OM005: p_topic is NULL; OM015: it is not registered; OM208: it is a source. Locks: '
'the offset; the state of the Module. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_lineage.retry TO omd_admin;
