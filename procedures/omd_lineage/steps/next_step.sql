-- The part of the kind TOPIC in omd.room_hook. Pauses and hours keep workers from a topic that
-- starts by itself, and no one who asks for a step; so only what a step finds too is no act.

CREATE OR REPLACE FUNCTION omd_lineage.next_step(
    p_module_code text,
    OUT p_act text,
    OUT p_arguments jsonb,
    OUT p_status text,
    OUT p_detail text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $next_step$
DECLARE
    v_topic record;
BEGIN
    SELECT r.topic, r.reason, r.is_held, r.hostid, r.upto, r.blocker INTO v_topic
    FROM omd_lineage.topic AS t
    CROSS JOIN LATERAL omd_lineage._ready_of(ARRAY[t.topic_id]) AS r
    WHERE t.topic = omd_lineage._topic_of(p_module_code);
    p_arguments := jsonb_build_object('topic', v_topic.topic);
    IF v_topic.is_held THEN
        p_status := 'A';
        p_detail := 'held by ' || v_topic.hostid;
    ELSIF v_topic.reason = 'INACTIVE' THEN
        p_status := 'C';
        p_detail := 'INACTIVE';
    ELSIF v_topic.reason IN ('UNDO', 'AWAITED', 'NO_OFFSET', 'DEPENDENCY') THEN
        p_status := 'C';
        p_detail := CASE v_topic.reason
            WHEN 'UNDO' THEN 'rows of its base table are being taken back'
            WHEN 'AWAITED' THEN 'waits for ' || v_topic.blocker
            WHEN 'NO_OFFSET' THEN coalesce(v_topic.blocker, 'it has no offset')
            ELSE 'there is nothing new of ' || v_topic.blocker
        END;
        p_detail := coalesce(p_detail, v_topic.reason);
    END IF;
    p_act := CASE WHEN p_status IS NULL THEN 'STEP' ELSE 'NOTHING' END;
    IF p_act = 'STEP' THEN
        p_arguments := p_arguments || jsonb_build_object(
            'reason', v_topic.reason, 'upto', v_topic.upto
        );
        p_detail := v_topic.reason;
    END IF;
END
$next_step$;

COMMENT ON FUNCTION omd_lineage.next_step IS
'For rooms: Says what omd.next_act answers for the Module p_module_code of a topic: p_act STEP, '
'with topic, the reason and upto of omd_lineage.ready_list in p_arguments, or NOTHING with '
'p_status and p_detail. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage.next_step TO omd_reader;
