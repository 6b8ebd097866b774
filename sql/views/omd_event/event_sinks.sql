-- The address may hold a secret, so it is not shown.

CREATE OR REPLACE VIEW omd_report.event_sinks AS
SELECT
    s.sink_code,
    s.sink_kind,
    s.event_number,
    greatest(p.event_number - s.event_number, 0) AS behind,
    (
        SELECT e.published_datetime
        FROM omd_event.event AS e
        WHERE e.event_number > s.event_number
        ORDER BY e.event_number
        LIMIT 1
    ) AS oldest_waiting,
    CASE WHEN s.lease_expires_at > statement_timestamp() THEN s.holder END AS holder,
    s.problem,
    s.not_before,
    s.refused,
    s.sent,
    s.inactive_indicator,
    s.purged_unsent,
    p.tries
FROM omd_event.sink AS s
CROSS JOIN omd_event.setting AS p;

COMMENT ON VIEW omd_report.event_sinks IS
'The programs that events are sent to: how far each has come, and why it waits.';
COMMENT ON COLUMN omd_report.event_sinks.sink_code IS 'The sink.';
COMMENT ON COLUMN omd_report.event_sinks.sink_kind IS
'OPENLINEAGE, WEBHOOK, COMMAND, or PULL (a program of your own).';
COMMENT ON COLUMN omd_report.event_sinks.event_number IS 'All up to this number is settled.';
COMMENT ON COLUMN omd_report.event_sinks.behind IS
'How many numbers are not settled, also of events that it does not ask for.';
COMMENT ON COLUMN omd_report.event_sinks.oldest_waiting IS
'When the first event that is not settled was published; NULL: nothing waits.';
COMMENT ON COLUMN omd_report.event_sinks.holder IS
'The sender whose lease lasts; NULL: nobody holds it.';
COMMENT ON COLUMN omd_report.event_sinks.problem IS 'Why it waits; NULL: it does not.';
COMMENT ON COLUMN omd_report.event_sinks.not_before IS 'Until then nothing is taken.';
COMMENT ON COLUMN omd_report.event_sinks.refused IS 'How many events it has refused.';
COMMENT ON COLUMN omd_report.event_sinks.sent IS 'How many events it has got.';
COMMENT ON COLUMN omd_report.event_sinks.inactive_indicator IS
'Y: nothing is sent, and nothing waits.';
COMMENT ON COLUMN omd_report.event_sinks.purged_unsent IS
'How many events were purged before it got them.';
COMMENT ON COLUMN omd_report.event_sinks.tries IS
'How often an event is sent that is refused, until the refusal is final.';
