-- A receiver may answer at length, so its answer is cut.

CREATE OR REPLACE FUNCTION omd_event._refuse_events(
    p_sink_code text,
    p_after bigint,
    p_upto bigint,
    p_refused jsonb
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $refuse_events$
DECLARE
    v_refused bigint;
BEGIN
    IF jsonb_typeof(p_refused) <> 'array'
        OR EXISTS (
            SELECT
            FROM jsonb_array_elements(
                CASE jsonb_typeof(p_refused) WHEN 'array' THEN p_refused ELSE '[]' END
            ) AS r (item)
            WHERE coalesce(
                jsonb_typeof(r.item -> 'event_number') <> 'number'
                OR (r.item ->> 'event_number')::numeric NOT BETWEEN 1 AND p_upto
                OR (r.item ->> 'event_number')::numeric % 1 <> 0,
                TRUE
            )
        )
    THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_refused',
                'value', left(p_refused::text, 200),
                'expected', format(
                    'an array of {"event_number", "status", "answer"}, whose numbers are at most %s',
                    p_upto
                )
            )
        );
    END IF;
    INSERT INTO omd_event.refused_event (sink_code, event_number, status, answer)
    SELECT DISTINCT ON ((r.item ->> 'event_number')::numeric)
        p_sink_code,
        (r.item ->> 'event_number')::numeric::bigint AS event_number,
        left(r.item ->> 'status', 100) AS status,
        left(r.item ->> 'answer', 1000) AS answer
    FROM jsonb_array_elements(p_refused) AS r (item)
    ORDER BY (r.item ->> 'event_number')::numeric
    ON CONFLICT (sink_code, event_number) DO UPDATE SET
        status = excluded.status,
        answer = excluded.answer,
        refused_datetime = clock_timestamp();
    -- Who confirms again, as the answer was lost, has refused nothing more.
    SELECT count(DISTINCT (r.item ->> 'event_number')::numeric) INTO v_refused
    FROM jsonb_array_elements(p_refused) AS r (item)
    WHERE (r.item ->> 'event_number')::numeric > p_after;
    RETURN v_refused;
END
$refuse_events$;

COMMENT ON FUNCTION omd_event._refuse_events IS
'Keeps which events up to p_upto the sink refused, and returns how many after p_after. Errors: '
'OM013. Locks: the rows that it writes.';
