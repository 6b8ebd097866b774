-- It does not publish: the row of omd_event.setting would stay held until the caller commits, and a
-- program without autocommit would stop everybody. A sink that somebody is changing is passed over
-- for the same reason.
--
-- At most 10,000 events are looked at, so that a sink that gets few of them does not look at all
-- that are kept while it holds its row.

CREATE OR REPLACE FUNCTION omd_event.take_events(
    p_sink_code text,
    p_holder text,
    p_limit integer DEFAULT 100,
    p_lease interval DEFAULT '1 minute'
)
RETURNS TABLE (
    event_number bigint,
    event_type text,
    subject_type text,
    subject_id bigint,
    code text,
    event_datetime timestamptz,
    body text
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
AS $take_events$
DECLARE
    v_sink omd_event.sink;
    v_event omd_event.event;
    v_now timestamptz;
    v_looked bigint;
    v_wanted bigint[] := '{}'::bigint[];
BEGIN
    IF p_holder IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_holder'));
    ELSIF p_limit IS NULL OR p_limit < 1 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object('argument', 'p_limit', 'value', p_limit, 'expected', '1 or more')
        );
    ELSIF p_lease IS NULL OR p_lease NOT BETWEEN interval '1 ms' AND interval '1 day' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_lease', 'value', p_lease, 'expected', 'an interval of 1 ms to 1 day'
            )
        );
    END IF;
    SELECT s.* INTO v_sink
    FROM omd_event.sink AS s
    WHERE s.sink_code = p_sink_code
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        IF NOT EXISTS (SELECT FROM omd_event.sink AS s WHERE s.sink_code = p_sink_code) THEN
            PERFORM omd_event._raise_unknown_sink(p_sink_code);
        END IF;
        RETURN;
    END IF;
    BEGIN
        PERFORM omd.require_known_server();
    EXCEPTION
        WHEN SQLSTATE 'OM109' THEN
            PERFORM omd.raise_error('OM295', jsonb_build_object('sink_code', p_sink_code));
    END;
    v_now := clock_timestamp();
    -- A pause or a lease that began ahead of the clock is of one that was set back since: it is over.
    IF v_sink.inactive_indicator = 'Y'
        OR (
            v_sink.not_before > v_now
            AND (v_sink.not_before - v_sink.pause > v_now) IS NOT TRUE
        )
        OR (
            v_sink.lease_expires_at > v_now
            AND (v_sink.lease_expires_at - v_sink.lease > v_now) IS NOT TRUE
            AND v_sink.holder <> p_holder
        )
    THEN
        RETURN;
    END IF;

    v_looked := v_sink.event_number;
    FOR v_event IN
        SELECT e.*
        FROM omd_event.event AS e
        WHERE e.event_number > v_sink.event_number
        ORDER BY e.event_number
        LIMIT 10000
    LOOP
        v_looked := v_event.event_number;
        CONTINUE WHEN NOT omd_event._is_wanted(v_sink, v_event);
        v_wanted := v_wanted || v_looked;
        EXIT WHEN cardinality(v_wanted) = p_limit;
    END LOOP;
    RETURN QUERY
    SELECT
        e.event_number,
        e.event_type,
        e.subject_type,
        e.subject_id,
        e.code,
        e.event_datetime,
        b.body
    FROM omd_event._event_bodies(v_sink, v_wanted) AS b
    INNER JOIN omd_event.event AS e ON b.event_number = e.event_number
    ORDER BY e.event_number;

    -- What the sink did not ask for is settled.
    v_looked := coalesce(v_wanted[1] - 1, v_looked);
    UPDATE omd_event.sink AS s SET
        holder = p_holder,
        lease = p_lease,
        lease_expires_at = v_now + p_lease,
        event_number = v_looked,
        taken_upto = greatest(
            coalesce(v_wanted[cardinality(v_wanted)], v_looked),
            CASE
                WHEN s.holder = p_holder AND s.lease_expires_at > v_now THEN s.taken_upto
            END
        )
    WHERE s.sink_code = p_sink_code;
END
$take_events$;

COMMENT ON FUNCTION omd_event.take_events IS
'For programs: '
'Takes the sink p_sink_code for the sender p_holder, or renews its lease, and returns the events '
'that come next, in order; body is exactly what is to be sent. It returns no row while another '
'holder''s lease lasts, while the sink pauses after a problem, while it is inactive, and where '
'nothing has come that it asked for. What was not confirmed is returned again. It does not '
'publish: call publish before it. p_limit: at most so many. p_lease: how long nobody else gets '
'them. Errors: OM005, OM013, OM095; OM295: the database is a copy of the one whose events were '
'sent. Locks: the row of the sink, which it passes over where another session has it. Call again '
'when the answer was lost. May be NULL: code.';
GRANT EXECUTE ON FUNCTION omd_event.take_events TO omd_runner;
