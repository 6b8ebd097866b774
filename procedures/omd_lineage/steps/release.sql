-- The plan number of the next claim bars the former holder, so a topic can be released without
-- knowing whether its holder lives.

CREATE OR REPLACE PROCEDURE omd_lineage.release(
    p_topic text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $release$
DECLARE
    v_topic_id integer := omd_lineage._require_topic(p_topic);
    v_hostid text;
BEGIN
    SELECT o.hostid INTO v_hostid FROM omd_lineage.offsets AS o
    WHERE o.topic_id = v_topic_id
    FOR NO KEY UPDATE;
    IF v_hostid <> '' THEN
        UPDATE omd_lineage.offsets AS o SET hostid = '' WHERE o.topic_id = v_topic_id;
        PERFORM omd.write_event(
            0, 0, 4, 'RELEASE',
            format('%s was released from %s by %s', p_topic, v_hostid, omd.editor())
        );
        PERFORM omd_lineage._notify_topic(o.topic) FROM omd_lineage.offsets AS o
        WHERE o.topic_id = v_topic_id;
    END IF;
END
$release$;

COMMENT ON PROCEDURE omd_lineage.release IS
'Releases the topic p_topic from its holder, whether it lives or not: its step can''t commit any '
'more, and the next step takes the same block. The same as SET hostid = ''''. Errors: OM005: '
'p_topic is NULL; OM015: it is not registered. Locks: the offset. See '
'docs/explanation/lineage.md. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_lineage.release TO omd_admin;
