-- Records an error that came before there was a run: the topic waits as after a failed step.

CREATE OR REPLACE PROCEDURE omd_lineage.note_error(
    p_topic text,
    p_detail text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_error$
DECLARE
    v_topic_id integer := omd_lineage._require_topic(p_topic);
BEGIN
    UPDATE omd_lineage.offsets AS o SET
        attempts = o.attempts + 1,
        run = clock_timestamp(),
        state = left(coalesce(split_part(p_detail, E'\n', 1), 'failed'), 1000)
    WHERE o.topic_id = v_topic_id
        AND NOT omd_lineage._holder_lives(o.hostid, o.module_instance_id);
    IF FOUND THEN
        PERFORM omd.write_event(0, 0, 2, 'LINEAGE', format('%s: %s', p_topic, p_detail));
    END IF;
END
$note_error$;

COMMENT ON PROCEDURE omd_lineage.note_error IS
'Records that the topic p_topic could not be begun (p_detail): it counts as an attempt and is '
'written to the event log. Errors: OM005, OM015. Locks: the offset.';
REVOKE ALL ON PROCEDURE omd_lineage.note_error FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage.note_error TO omd_runner;
