-- This is the only place that decides which events a sink gets.

CREATE OR REPLACE FUNCTION omd_event._is_wanted(
    p_sink omd_event.sink,
    p_event omd_event.event
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        (
            (p_sink).event_types IS NULL
            OR (p_event).event_type = ANY((p_sink).event_types)
        )
        AND ((p_sink).codes IS NULL OR coalesce((p_event).code LIKE ANY((p_sink).codes), FALSE))
        AND (
            (p_sink).sink_kind <> 'OPENLINEAGE'
            OR (p_event).event_type LIKE 'RUN\_%'
            OR (p_event).event_type LIKE 'BATCH\_%'
        );
END;

COMMENT ON FUNCTION omd_event._is_wanted IS
'Returns whether the sink gets the event: what it did not ask for passes by itself, and so does '
'what OpenLineage has no word for. Locks: none.';
