-- Each event is made when somebody looks at it; senders ask for many at once.

CREATE OR REPLACE VIEW omd_report.openlineage_event AS
SELECT
    e.event_number,
    e.event_type,
    e.code,
    o.event
FROM omd_event.event AS e
CROSS JOIN LATERAL omd_event._open_lineage(ARRAY[e.event_number]) AS o
WHERE e.subject_type IN ('MODULE', 'BATCH');

COMMENT ON VIEW omd_report.openlineage_event IS
'Each event of a run or a Batch as OpenLineage (2-0-2) says it: START, COMPLETE, FAIL, ABORT, and '
'OTHER for what was undone.';
COMMENT ON COLUMN omd_report.openlineage_event.event_number IS 'The number of the event.';
COMMENT ON COLUMN omd_report.openlineage_event.event_type IS 'What has happened.';
COMMENT ON COLUMN omd_report.openlineage_event.code IS
'The Module or Batch, as it was called when the event was published.';
COMMENT ON COLUMN omd_report.openlineage_event.event IS
'The event, exactly as it is sent. What a definition says is as it is now.';
