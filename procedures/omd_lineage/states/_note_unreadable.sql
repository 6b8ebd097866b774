-- A lock on the base table says nothing about the topic, however long it is held.

CREATE OR REPLACE FUNCTION omd_lineage._note_unreadable(
    p_topic_id integer,
    p_detail text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_unreadable$
BEGIN
    PERFORM omd_lineage._write_state(o.topic_id, 'NOJOBS: ' || p_detail)
    FROM omd_lineage.offsets AS o
    WHERE o.topic_id = p_topic_id AND o.hostid = '';
    PERFORM omd.note_look(t.module_id) FROM omd_lineage.topic AS t
    WHERE t.topic_id = p_topic_id;
END
$note_unreadable$;

COMMENT ON FUNCTION omd_lineage._note_unreadable IS
'Records that the base table of the topic p_topic_id can''t be read now, and why (p_detail): the '
'topic is looked at again after a pause. Locks: the offset.';
GRANT EXECUTE ON FUNCTION omd_lineage._note_unreadable TO omd_runner;
