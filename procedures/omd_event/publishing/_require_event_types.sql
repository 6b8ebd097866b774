-- A type that is none would be waited for in vain.

CREATE OR REPLACE FUNCTION omd_event._require_event_types(
    p_event_types text[]
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_event_types$
DECLARE
    v_known text;
BEGIN
    PERFORM
    FROM unnest(p_event_types) AS g (event_type)
    LEFT JOIN omd_event.event_type AS t ON g.event_type = t.event_type
    WHERE t.event_type IS NULL;
    IF FOUND THEN
        SELECT string_agg(t.event_type, ', ' ORDER BY t.event_type) INTO v_known
        FROM omd_event.event_type AS t;
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_event_types',
                'value', p_event_types::text,
                'expected', 'an array of ' || v_known
            )
        );
    END IF;
END
$require_event_types$;

COMMENT ON FUNCTION omd_event._require_event_types IS
'Refuses types of events that there are not. NULL and an empty array pass. Errors: OM013. Locks: '
'none.';
