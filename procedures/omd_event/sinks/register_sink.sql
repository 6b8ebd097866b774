-- A sender that is at work gets nothing more until it has taken the sink again, so it can't confirm
-- by what was registered before.

CREATE OR REPLACE PROCEDURE omd_event.register_sink(
    p_sink_code text,
    p_sink_kind text DEFAULT NULL,
    p_event_types text[] DEFAULT NULL,
    p_codes text[] DEFAULT NULL,
    p_target text DEFAULT NULL,
    p_format text DEFAULT NULL,
    p_secret_name text DEFAULT NULL,
    p_timeout interval DEFAULT NULL,
    p_from bigint DEFAULT NULL,
    p_inactive_indicator text DEFAULT NULL,
    INOUT p_event_number bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_sink$
DECLARE
    v_sink omd_event.sink;
    v_newest bigint;
    v_is_new boolean;
BEGIN
    p_sink_code := omd.require_argument('p_sink_code', p_sink_code);
    SELECT s.event_number INTO STRICT v_newest FROM omd_event.setting AS s;
    IF p_from NOT BETWEEN 0 AND v_newest THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_from', 'value', p_from,
                'expected', format('a number from 0 to %s, which is the newest', v_newest)
            )
        );
    END IF;
    PERFORM omd.get_ready_for_id();
    SELECT s.* INTO v_sink
    FROM omd_event.sink AS s
    WHERE s.sink_code = p_sink_code
    FOR UPDATE;
    v_is_new := NOT FOUND;
    IF v_is_new AND p_sink_kind IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_sink_kind'));
    END IF;
    v_sink.sink_code := p_sink_code;
    v_sink.sink_kind := coalesce(p_sink_kind, v_sink.sink_kind);
    v_sink.event_types := coalesce(p_event_types, v_sink.event_types);
    v_sink.codes := coalesce(p_codes, v_sink.codes);
    v_sink.target := coalesce(p_target, v_sink.target);
    v_sink.format := coalesce(p_format, v_sink.format);
    v_sink.secret_name := coalesce(p_secret_name, v_sink.secret_name);
    v_sink.timeout := coalesce(p_timeout, v_sink.timeout);
    v_sink.inactive_indicator := coalesce(p_inactive_indicator, v_sink.inactive_indicator, 'N');
    PERFORM omd_event._require_sink_fit(v_sink);

    IF v_is_new THEN
        INSERT INTO omd_event.sink (
            sink_code, sink_kind, event_types, codes, target, format, secret_name, timeout,
            inactive_indicator, event_number, taken_upto
        )
        VALUES (
            v_sink.sink_code, v_sink.sink_kind, v_sink.event_types, v_sink.codes, v_sink.target,
            v_sink.format, v_sink.secret_name, v_sink.timeout, v_sink.inactive_indicator,
            coalesce(p_from, v_newest), coalesce(p_from, v_newest)
        )
        ON CONFLICT (sink_code) DO NOTHING
        RETURNING sink.event_number INTO p_event_number;
        IF NOT FOUND THEN
            -- Another session was quicker.
            CALL omd_event.register_sink(
                p_sink_code, p_sink_kind, p_event_types, p_codes, p_target, p_format,
                p_secret_name, p_timeout, p_from, p_inactive_indicator, p_event_number
            );
            RETURN;
        END IF;
    ELSE
        UPDATE omd_event.sink AS s SET
            sink_kind = v_sink.sink_kind,
            event_types = v_sink.event_types,
            codes = v_sink.codes,
            target = v_sink.target,
            format = v_sink.format,
            secret_name = v_sink.secret_name,
            timeout = v_sink.timeout,
            inactive_indicator = v_sink.inactive_indicator,
            event_number = coalesce(p_from, s.event_number),
            taken_upto = coalesce(p_from, s.event_number),
            lease_expires_at = NULL,
            problem = NULL,
            problem_datetime = NULL,
            not_before = NULL,
            pause = NULL,
            purged_unsent = 0
        WHERE s.sink_code = p_sink_code
        RETURNING s.event_number INTO p_event_number;
    END IF;
    PERFORM omd_event._log_edit(
        'SINK',
        format(
            'sink %s (%s) is registered, after event %s',
            v_sink.sink_code, v_sink.sink_kind, p_event_number
        )
    );
END
$register_sink$;

COMMENT ON PROCEDURE omd_event.register_sink IS
'Registers a program that events are sent to, or changes it: NULL keeps what is there. '
'p_event_number: the event after which it goes on. p_sink_code: its name. p_sink_kind: '
'OPENLINEAGE, WEBHOOK, COMMAND, or PULL for a program of your own. p_event_types: the types that '
'it gets (at first all). p_codes: LIKE patterns of the codes that it gets (at first all). '
'p_target: the address of a webhook, the absolute path of a command. p_format: what these get, '
'CLOUDEVENT (at first) or TEXT. p_secret_name: the environment variable of the sender, whose name '
'begins with OMD_SECRET_, with the secret for signatures. p_timeout: how long one event may take. '
'p_from: it goes on after this event, 0: with all that are kept (at first after the newest). '
'p_inactive_indicator: Y: nothing is sent, and nothing waits. A lease ends, and so does a pause. '
'Errors: OM005, OM013. Locks: the row of the sink.';
GRANT EXECUTE ON PROCEDURE omd_event.register_sink TO omd_admin;
