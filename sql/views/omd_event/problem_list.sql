-- A sink that is inactive asks for nothing. What a receiver has answered may hold anything, so the
-- problem is shown as its sender wrote it, which names no body and no secret.

CREATE OR REPLACE VIEW omd_event.problem_list AS
SELECT
    'SINK_PROBLEM' AS problem_code,
    'WARNING' AS severity,
    'event' AS room,
    'SINK' AS object_kind,
    s.sink_code AS object_key,
    format('sink %s (%s)', s.sink_code, s.sink_kind) AS subject,
    s.problem_datetime AS since,
    s.problem AS text,
    CASE s.sink_kind
        WHEN 'PULL' THEN format('SELECT * FROM omd_event.take_events(%L, ''me'');', s.sink_code)
        WHEN 'OPENLINEAGE' THEN 'omd send --openlineage'
        ELSE 'omd send ' || omd.shell_argument(s.sink_code)
    END AS way_out
FROM omd_event.sink AS s
WHERE s.inactive_indicator = 'N' AND s.problem IS NOT NULL
UNION ALL
SELECT
    'EVENTS_PURGED' AS problem_code,
    'WARNING' AS severity,
    'event' AS room,
    'SINK' AS object_kind,
    s.sink_code AS object_key,
    format('sink %s (%s)', s.sink_code, s.sink_kind) AS subject,
    NULL::timestamptz AS since,
    format('%s events that it had not settled were purged.', s.purged_unsent) AS text,
    format('CALL omd_event.register_sink(%L);', s.sink_code) AS way_out
FROM omd_event.sink AS s
WHERE s.inactive_indicator = 'N' AND s.purged_unsent > 0;

COMMENT ON VIEW omd_event.problem_list IS
'For rooms: the sinks that somebody should look at, as omd_report.problems shows them.';
COMMENT ON COLUMN omd_event.problem_list.problem_code IS
'SINK_PROBLEM: the last event could not be sent. EVENTS_PURGED: events were purged before they '
'were sent.';
COMMENT ON COLUMN omd_event.problem_list.severity IS 'WARNING.';
COMMENT ON COLUMN omd_event.problem_list.room IS 'The room that says so.';
COMMENT ON COLUMN omd_event.problem_list.object_kind IS 'SINK.';
COMMENT ON COLUMN omd_event.problem_list.object_key IS 'The sink.';
COMMENT ON COLUMN omd_event.problem_list.subject IS 'What it is about, in words.';
COMMENT ON COLUMN omd_event.problem_list.since IS 'Since when; NULL when that is not known.';
COMMENT ON COLUMN omd_event.problem_list.text IS 'What is wrong.';
COMMENT ON COLUMN omd_event.problem_list.way_out IS 'What mends it.';
