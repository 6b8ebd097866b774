-- Who is past its lease may have sent what another sender sends too, but it confirms nothing.

CREATE OR REPLACE PROCEDURE omd_event.confirm_events(
    p_sink_code text,
    p_holder text,
    p_event_number bigint DEFAULT NULL,
    p_refused jsonb DEFAULT NULL,
    p_problem text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $confirm_events$
DECLARE
    v_sink omd_event.sink;
    v_upto bigint;
    v_now timestamptz;
    v_refused bigint := 0::bigint;
    v_wanted bigint := 0::bigint;
BEGIN
    p_holder := omd.require_argument('p_holder', p_holder);
    IF p_event_number IS NULL AND p_problem IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_event_number'));
    END IF;
    SELECT s.* INTO v_sink
    FROM omd_event.sink AS s
    WHERE s.sink_code = p_sink_code
    FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM omd_event._raise_unknown_sink(p_sink_code);
    END IF;
    v_now := clock_timestamp();
    v_upto := coalesce(p_event_number, v_sink.event_number);
    IF v_sink.holder IS DISTINCT FROM p_holder OR v_sink.lease_expires_at IS NULL THEN
        PERFORM omd_event._raise_not_held(
            p_sink_code, p_holder, format('%s does not hold it', p_holder)
        );
    ELSIF v_sink.lease_expires_at <= v_now THEN
        PERFORM omd_event._raise_not_held(p_sink_code, p_holder, 'the lease has expired');
    ELSIF v_upto < v_sink.event_number THEN
        PERFORM omd_event._raise_not_held(
            p_sink_code, p_holder, format('all up to %s is settled', v_sink.event_number)
        );
    ELSIF v_upto > v_sink.taken_upto THEN
        PERFORM omd_event._raise_not_held(
            p_sink_code, p_holder, format('only events up to %s were taken', v_sink.taken_upto)
        );
    END IF;

    IF p_refused IS NOT NULL THEN
        v_refused := omd_event._refuse_events(
            p_sink_code, v_sink.event_number, v_upto, p_refused
        );
    END IF;
    SELECT count(*) INTO v_wanted
    FROM omd_event.event AS e
    WHERE e.event_number > v_sink.event_number
        AND e.event_number <= v_upto
        AND omd_event._is_wanted(v_sink, e);
    UPDATE omd_event.sink AS s SET
        event_number = v_upto,
        sent = s.sent + greatest(v_wanted - v_refused, 0),
        refused = s.refused + v_refused,
        lease_expires_at = v_now + s.lease,
        problem = left(p_problem, 1000),
        problem_datetime = CASE
            WHEN p_problem IS NOT NULL THEN coalesce(s.problem_datetime, v_now)
        END,
        pause = CASE
            WHEN p_problem IS NOT NULL
                THEN least(coalesce(s.pause * 2, interval '1 s'), interval '1 minute')
        END,
        not_before = CASE
            WHEN p_problem IS NOT NULL
                THEN v_now + least(coalesce(s.pause * 2, interval '1 s'), interval '1 minute')
        END
    WHERE s.sink_code = p_sink_code;
END
$confirm_events$;

COMMENT ON PROCEDURE omd_event.confirm_events IS
'For programs: '
'Settles all events of the sink p_sink_code up to p_event_number; NULL, with a problem: none. '
'p_holder: the sender that has taken them. p_refused: those among them that the sink refused, an '
'array of {"event_number", "status", "answer"}; they are kept in omd_event.refused_event, and '
'passed. p_problem: why the sink can''t get the next one; it pauses a second, twice as long each '
'time, at most a minute. NULL ends the pause. The lease begins anew. Errors: OM005, OM013, OM095; '
'OM195: the sender does not hold the lease any more, or confirms backwards, or more than it was '
'given. Locks: the row of the sink. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_event.confirm_events TO omd_runner;
