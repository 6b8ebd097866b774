-- Who sends or performs something outside asks it: workers, schedulers, loaders, senders of
-- events. A begin by hand does not.

CREATE OR REPLACE FUNCTION omd.require_known_server()
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_known_server$
BEGIN
    IF NOT omd.server_is_known() THEN
        PERFORM omd.raise_error(
            'OM109',
            (
                SELECT
                    jsonb_build_object(
                        'system_identifier', s.system_identifier,
                        'database_oid', s.database_oid,
                        'known_system_identifier', i.system_identifier,
                        'known_database_oid', i.database_oid,
                        'changes', (
                            SELECT jsonb_agg(c.kind ORDER BY c.server_change_id)
                            FROM omd.open_server_change AS c
                        )
                    )
                FROM omd.installation AS i
                CROSS JOIN omd._server_now() AS s
            )
        );
    END IF;
END
$require_known_server$;

COMMENT ON FUNCTION omd.require_known_server IS
'For the driver: '
'Raises an error where the installation stands on another server, or under another OID, than it is '
'known on, and nobody has confirmed it; workers, schedulers and loaders call it before they start. '
'Errors: OM109. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.require_known_server TO omd_reader;
