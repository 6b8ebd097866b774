-- A receiver that has lost events gets them once more.

CREATE OR REPLACE PROCEDURE omd_event.send_again(
    p_sink_code text,
    p_event_number bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $send_again$
DECLARE
    v_sink omd_event.sink;
BEGIN
    p_event_number := omd.require_argument('p_event_number', p_event_number);
    SELECT s.* INTO v_sink
    FROM omd_event.sink AS s
    WHERE s.sink_code = p_sink_code
    FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM omd_event._raise_unknown_sink(p_sink_code);
    END IF;
    PERFORM FROM omd_event.event AS e
    WHERE e.event_number = p_event_number AND omd_event._is_wanted(v_sink, e);
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_event_number',
                'value', p_event_number,
                'expected', 'the number of an event that is kept and that the sink gets'
            )
        );
    END IF;
    UPDATE omd_event.sink AS s SET
        event_number = p_event_number - 1,
        taken_upto = p_event_number - 1,
        lease_expires_at = NULL,
        problem = NULL,
        problem_datetime = NULL,
        not_before = NULL,
        pause = NULL,
        purged_unsent = 0
    WHERE s.sink_code = p_sink_code;
    PERFORM omd_event._log_edit(
        'SINK', format('sink %s gets event %s next', p_sink_code, p_event_number)
    );
END
$send_again$;

COMMENT ON PROCEDURE omd_event.send_again IS
'Lets the sink p_sink_code go on with the event p_event_number: the next event taken is that one, '
'and those after it follow again. A lease ends, and so does a pause. Errors: OM005, OM013, OM095. '
'Locks: the row of the sink.';
GRANT EXECUTE ON PROCEDURE omd_event.send_again TO omd_admin;
