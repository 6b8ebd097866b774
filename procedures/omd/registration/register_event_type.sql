-- The numbers below 100 belong to OMD, since a later version may give each of them a meaning. A
-- trigger logs the edit.

CREATE OR REPLACE PROCEDURE omd.register_event_type(
    p_event_type_code integer,
    p_event_type_description text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_event_type$
BEGIN
    p_event_type_code := omd.require_argument('p_event_type_code', p_event_type_code);
    IF p_event_type_code < 100 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_event_type_code',
                'value', p_event_type_code,
                'expected', 'a number from 100 on; those below are of OMD itself'
            )
        );
    END IF;

    INSERT INTO omd.event_type AS e (event_type_code, event_type_description)
    VALUES (p_event_type_code, coalesce(p_event_type_description, ''))
    ON CONFLICT (event_type_code) DO UPDATE SET
        event_type_description = coalesce(p_event_type_description, e.event_type_description);
END
$register_event_type$;

COMMENT ON PROCEDURE omd.register_event_type IS
'Adds the event type p_event_type_code, a number from 100 on, for omd.log_event, or changes its '
'description; NULL keeps the present one. p_event_type_description: what such an event says. '
'Errors: OM005, OM013. Locks: the event_type row.';
GRANT EXECUTE ON PROCEDURE omd.register_event_type TO omd_admin;
