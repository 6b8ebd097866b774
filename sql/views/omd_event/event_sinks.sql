CREATE OR REPLACE VIEW omd_report.event_sinks AS
SELECT s.sink_code, s.sink_kind, s.event_number, e.event_number - s.event_number AS behind, NULL::timestamptz AS oldest_waiting
FROM omd_event.sink AS s CROSS JOIN omd_event.setting AS e;
COMMENT ON VIEW omd_report.event_sinks IS 'stub';
COMMENT ON COLUMN omd_report.event_sinks.sink_code IS 'stub';
COMMENT ON COLUMN omd_report.event_sinks.sink_kind IS 'stub';
COMMENT ON COLUMN omd_report.event_sinks.event_number IS 'stub';
COMMENT ON COLUMN omd_report.event_sinks.behind IS 'stub';
COMMENT ON COLUMN omd_report.event_sinks.oldest_waiting IS 'stub';
