-- It is for readers that keep their place themselves, without a sink.

CREATE OR REPLACE FUNCTION omd_event.events_after(
    p_event_number bigint,
    p_limit integer DEFAULT 1000,
    p_event_types text[] DEFAULT NULL
)
RETURNS TABLE (
    event_number bigint,
    event_type text,
    subject_type text,
    subject_id bigint,
    code text,
    started_datetime timestamptz,
    event_datetime timestamptz,
    published_datetime timestamptz,
    detail jsonb
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $events_after$
BEGIN
    p_event_number := omd.require_argument('p_event_number', p_event_number);
    IF p_limit IS NULL OR p_limit < 1 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object('argument', 'p_limit', 'value', p_limit, 'expected', '1 or more')
        );
    END IF;
    PERFORM omd_event._require_event_types(p_event_types);
    RETURN QUERY
    SELECT
        e.event_number,
        e.event_type,
        e.subject_type,
        e.subject_id,
        e.code,
        e.started_datetime,
        e.event_datetime,
        e.published_datetime,
        e.detail
    FROM omd_event.event AS e
    WHERE e.event_number > p_event_number
        AND (p_event_types IS NULL OR e.event_type = ANY(p_event_types))
    ORDER BY e.event_number
    LIMIT p_limit;
END
$events_after$;

COMMENT ON FUNCTION omd_event.events_after IS
'For programs: '
'Returns the rows of omd_report.events after p_event_number, in order, and changes nothing. Who '
'goes on after the last number that it got misses none; 0: all that are kept. p_limit: at most so '
'many. p_event_types: only these types, NULL: all. Errors: OM005, OM013. Locks: none. May be '
'NULL: code, started_datetime.';
GRANT EXECUTE ON FUNCTION omd_event.events_after TO omd_reader;
