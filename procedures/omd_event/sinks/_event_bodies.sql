-- Those for OpenLineage are made together, as they look at much beside the event.

CREATE OR REPLACE FUNCTION omd_event._event_bodies(
    p_sink omd_event.sink,
    p_event_numbers bigint[]
)
RETURNS TABLE (
    event_number bigint,
    body text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $event_bodies$
BEGIN
    IF p_sink.sink_kind = 'OPENLINEAGE' THEN
        RETURN QUERY
        SELECT
            o.event_number,
            o.event::text
        FROM omd_event._open_lineage(p_event_numbers) AS o;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT
        e.event_number,
        CASE
            WHEN p_sink.sink_kind = 'PULL' THEN omd_event._event_row(e)
            WHEN p_sink.format = 'TEXT' THEN omd_event._text(e)
            ELSE omd_event._cloud_event(e)
        END::text
    FROM omd_event.event AS e
    WHERE e.event_number = ANY(p_event_numbers);
END
$event_bodies$;

COMMENT ON FUNCTION omd_event._event_bodies IS
'Returns what the sink is sent of the events p_event_numbers. Locks: none.';
