-- The body of a webhook.

CREATE OR REPLACE FUNCTION omd_event._cloud_event(
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

COMMENT ON FUNCTION omd_event._cloud_event IS
'Returns what a sink gets of an event. Locks: none.';
REVOKE ALL ON FUNCTION omd_event._cloud_event FROM PUBLIC;
