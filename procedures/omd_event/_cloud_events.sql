-- The same event has the same body whenever it is sent, so times are those of UTC, and nothing of
-- the moment is in it. Its id is no event_number: another server may give that to another event. It
-- has no full stop, which separates the parts that a webhook signs.

CREATE OR REPLACE FUNCTION omd_event._cloud_events(
    p_event_numbers bigint[],
    p_format text
)
RETURNS TABLE (event_number bigint, body text)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 100
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601'
AS $cloud_events$
BEGIN
    IF p_format = 'TEXT' THEN
        RETURN QUERY
        SELECT
            e.event_number,
            json_build_object(
                'text',
                concat_ws(
                    chr(10),
                    omd_event._event_text(e.event_type, e.subject_id, e.code, e.detail),
                    rtrim(s.web_url, '/') || '/run/' || lower(e.subject_type) || '/' || e.subject_id
                )
            )::text
        FROM omd_event.event AS e
        LEFT JOIN omd_event.setting AS s ON e.subject_type IN ('MODULE', 'BATCH')
        WHERE e.event_number = ANY (p_event_numbers)
        ORDER BY e.event_number;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT
        e.event_number,
        json_build_object(
            'specversion', '1.0',
            'id', concat_ws(
                '/',
                i.installation_id,
                coalesce(
                    e.event_uuid::text,
                    concat_ws(
                        '/',
                        e.event_type,
                        e.subject_type,
                        e.subject_id,
                        to_char(e.started_datetime, 'YYYYMMDD"T"HH24MISSUS"Z"')
                    )
                )
            ),
            'source', 'urn:uuid:' || i.installation_id,
            'type', 'omd.' || lower(e.event_type),
            'subject', e.subject_type || '/' || e.subject_id,
            'time', to_char(e.event_datetime, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'datacontenttype', 'application/json',
            'data', json_build_object(
                'event_number', e.event_number,
                'event_type', e.event_type,
                'subject_type', e.subject_type,
                'subject_id', e.subject_id,
                'code', e.code,
                'started_datetime', e.started_datetime,
                'event_datetime', e.event_datetime,
                'published_datetime', e.published_datetime,
                'detail', e.detail
            )
        )::text
    FROM omd_event.event AS e
    CROSS JOIN omd.installation AS i
    WHERE e.event_number = ANY (p_event_numbers)
    ORDER BY e.event_number;
END
$cloud_events$;

COMMENT ON FUNCTION omd_event._cloud_events IS
'Returns the bodies of the events p_event_numbers, in their order, as a WEBHOOK or COMMAND gets '
'them: a CloudEvent whose data is the row of omd_report.events; with p_format TEXT an object with '
'one sentence and a link. Locks: none.';
REVOKE ALL ON FUNCTION omd_event._cloud_events FROM PUBLIC;
