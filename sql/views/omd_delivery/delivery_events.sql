-- It shows what happened to a delivery; the status alone does not say why.

CREATE OR REPLACE VIEW omd_report.delivery_events AS
SELECT
    v.delivery_event_id,
    v.delivery_id,
    v.from_status,
    v.to_status,
    v.event,
    v.attempt,
    v.reason,
    v.editor,
    v.event_datetime
FROM omd_delivery.delivery_event AS v;

COMMENT ON VIEW omd_report.delivery_events IS 'What happened to each delivery.';
COMMENT ON COLUMN omd_report.delivery_events.delivery_event_id IS
'The event; the order of the events.';
COMMENT ON COLUMN omd_report.delivery_events.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_report.delivery_events.from_status IS
'The status before; NULL for its creation.';
COMMENT ON COLUMN omd_report.delivery_events.to_status IS 'The status after.';
COMMENT ON COLUMN omd_report.delivery_events.event IS 'The routine that made the change.';
COMMENT ON COLUMN omd_report.delivery_events.attempt IS 'The number of its newest run.';
COMMENT ON COLUMN omd_report.delivery_events.reason IS
'Why, in words; NULL where nothing was said.';
COMMENT ON COLUMN omd_report.delivery_events.editor IS 'Who made the change.';
COMMENT ON COLUMN omd_report.delivery_events.event_datetime IS 'When.';
