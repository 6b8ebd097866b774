-- The identity of an event is no column of the view.

CREATE OR REPLACE FUNCTION omd_event._event_row(
    p_event omd_event.event
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT to_jsonb(p_event) - 'event_uuid';
END;

COMMENT ON FUNCTION omd_event._event_row IS
'Returns the row of omd_report.events as a JSON object. Locks: none.';
