-- The same event has the same body whenever it is sent, so nothing of the moment is in it. Its id
-- is no event_number, which another server may give to another event, and has no full stop, which
-- separates the parts that a webhook signs. The subject is no code: the standard allows no control
-- characters in it.

CREATE OR REPLACE FUNCTION omd_event._cloud_event(
    p_event omd_event.event
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
BEGIN ATOMIC
    SELECT
        jsonb_build_object(
            'specversion', '1.0',
            'id', coalesce(
                (p_event).event_uuid::text,
                concat_ws(
                    '/',
                    i.installation_id,
                    (p_event).event_type,
                    (p_event).subject_id,
                    to_char((p_event).started_datetime, 'YYYYMMDD"T"HH24MISSUS"Z"')
                )
            ),
            'source', 'urn:uuid:' || i.installation_id,
            'type', 'omd.' || lower((p_event).event_type),
            'subject', (p_event).subject_type || '/' || (p_event).subject_id,
            'time', to_char((p_event).event_datetime, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'datacontenttype', 'application/json',
            'data', omd_event._event_row(p_event)
        )
    FROM (SELECT omd.installation_id() AS installation_id) AS i;
END;

COMMENT ON FUNCTION omd_event._cloud_event IS
'Returns an event as a CloudEvent 1.0 whose data is the row of omd_report.events. Locks: none.';
