-- A topic that can't begin would be tried on each look at the ready list, so the error counts as an
-- attempt, and as a failure of the Module. A topic that another step holds is left alone, since the
-- attempt was not that step's.

CREATE OR REPLACE PROCEDURE omd_lineage.note_error(
    p_topic text,
    p_detail text,
    p_event_return_code_details text DEFAULT 'LINEAGE'
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_error$
DECLARE
    v_topic_id integer := omd_lineage._require_topic(p_topic);
BEGIN
    p_detail := omd.require_argument('p_detail', p_detail);
    UPDATE omd_lineage.offsets AS o SET
        attempts = o.attempts + 1,
        run = clock_timestamp(),
        state = left(split_part(p_detail, E'\n', 1), 1000)
    WHERE o.topic_id = v_topic_id
        AND NOT omd_lineage._holder_lives(o.hostid, o.module_instance_id);
    IF FOUND THEN
        PERFORM omd.write_event(
            0, 0, 2, coalesce(p_event_return_code_details, 'LINEAGE'),
            format('%s: %s', p_topic, p_detail)
        );
        IF NOT omd.is_of_the_call(p_event_return_code_details) THEN
            PERFORM omd.count_failure(
                t.module_id, NULL, p_detail, coalesce(p_event_return_code_details, 'LINEAGE')
            )
            FROM omd_lineage.topic AS t
            WHERE t.topic_id = v_topic_id;
        END IF;
    END IF;
END
$note_error$;

COMMENT ON PROCEDURE omd_lineage.note_error IS
'For rooms: '
'Records that no step of the topic p_topic could begin. It counts as an attempt, and as a failure '
'after which the topic waits, unless it was a lock or a cancel; it is written to the event log. '
'p_detail: why the step could not begin. p_event_return_code_details: code of the error, LINEAGE '
'when it is NULL. It does nothing while a step holds the topic. step and begin_step record such '
'errors themselves; programs that fail before they call these need it. Errors: OM005: p_topic or '
'p_detail is NULL; OM015: p_topic is not registered. Locks: the offset.';
GRANT EXECUTE ON PROCEDURE omd_lineage.note_error TO omd_runner;
