-- The text for people.

CREATE OR REPLACE FUNCTION omd_event._text(
    p_event omd_event.event
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT omd_event._event_row(p_event);
END;

COMMENT ON FUNCTION omd_event._text IS
'Returns what a sink gets of an event. Locks: none.';
REVOKE ALL ON FUNCTION omd_event._text FROM PUBLIC;
