-- The procedure clears what keeps a topic from running; the planned block stays, so that no row is
-- skipped.

CREATE OR REPLACE PROCEDURE omd_lineage.retry(
    p_topic text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $retry$
DECLARE
    v_topic_id integer := omd_lineage._require_topic(p_topic);
BEGIN
    UPDATE omd_lineage.offsets AS o SET attempts = 0, run = '-infinity'
    WHERE o.topic_id = v_topic_id;
    PERFORM omd.write_event(
        0, 0, 4, 'RETRY', format('%s was set to retry by %s', p_topic, omd.editor())
    );
    PERFORM omd_lineage._notify_topic(o.topic) FROM omd_lineage.offsets AS o
    WHERE o.topic_id = v_topic_id;
END
$retry$;

COMMENT ON PROCEDURE omd_lineage.retry IS
'Sets the attempts of the topic p_topic to 0 and makes it due at once; a planned block stays the '
'same. Errors: OM005: p_topic is NULL; OM015: it is not registered. Locks: the offset. Call again '
'when the answer was lost.';
REVOKE ALL ON PROCEDURE omd_lineage.retry FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage.retry TO omd_admin;
