-- Sinks share the identity of the installation, and its confirmation.

CREATE OR REPLACE PROCEDURE omd_event.continue_as(
    p_identity text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $continue_as$
BEGIN
    p_identity := omd.require_argument('p_identity', p_identity);
    IF p_identity NOT IN ('SAME', 'NEW') THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_identity', 'value', p_identity, 'expected', 'SAME or NEW'
            )
        );
    END IF;
    CALL omd.confirm_server(
        CASE p_identity WHEN 'NEW' THEN 'COPY' ELSE 'MOVED' END,
        format('omd_event.continue_as(%L)', p_identity)
    );
    PERFORM omd_event._end_leases();
    PERFORM omd_event._log_edit('EVENTS', format('sinks continue as %s', p_identity));
END
$continue_as$;

COMMENT ON PROCEDURE omd_event.continue_as IS
'Says who goes on sending after the database was copied, restored or moved; until then '
'take_events refuses. p_identity: SAME: this database, where the other one left off. NEW: the '
'other one goes on too, so this one gets an identity of its own and passes over what waits. It '
'confirms the server for all rooms. Leases end. Errors: OM005, OM013. Locks: the row of '
'omd.installation, that of omd_event.setting, the rows of the sinks.';
GRANT EXECUTE ON PROCEDURE omd_event.continue_as TO omd_admin;
