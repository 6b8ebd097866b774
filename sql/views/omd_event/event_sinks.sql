CREATE OR REPLACE VIEW omd_report.event_sinks AS
SELECT s.sink_code, s.sink_kind, s.event_number, e.event_number - s.event_number AS behind, NULL::timestamptz AS oldest_waiting
FROM omd_event.sink AS s CROSS JOIN omd_event.setting AS e;
