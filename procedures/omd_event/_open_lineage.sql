-- The events are made together.

CREATE OR REPLACE FUNCTION omd_event._open_lineage(
    p_event_numbers bigint[]
)
RETURNS TABLE (
    event_number bigint,
    event jsonb
)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        e.event_number,
        omd_event._event_row(e) AS event
    FROM omd_event.event AS e
    WHERE e.event_number = ANY(p_event_numbers);
END;

COMMENT ON FUNCTION omd_event._open_lineage IS
'Returns the events p_event_numbers as OpenLineage has them. Locks: none.';
REVOKE ALL ON FUNCTION omd_event._open_lineage FROM PUBLIC;
