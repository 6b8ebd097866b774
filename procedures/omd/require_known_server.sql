-- This is the only place that decides whether the server is known. A room that sends or performs
-- something outside asks it; one that only keeps its books does not.

CREATE OR REPLACE FUNCTION omd.require_known_server(
    p_sqlstate text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_known_server$
DECLARE
    v_detail jsonb;
BEGIN
    SELECT
        jsonb_build_object(
            'system_identifier', s.system_identifier,
            'database_oid', s.database_oid,
            'known_system_identifier', i.system_identifier,
            'known_database_oid', i.database_oid
        )
    INTO v_detail
    FROM omd.installation AS i
    CROSS JOIN omd._present_server() AS s
    WHERE i.system_identifier <> s.system_identifier
        OR i.database_oid <> s.database_oid
        OR EXISTS (SELECT FROM omd.server_change AS c WHERE c.confirmed_as IS NULL);
    IF FOUND THEN
        PERFORM omd.raise_error(p_sqlstate, v_detail);
    END IF;
END
$require_known_server$;

COMMENT ON FUNCTION omd.require_known_server IS
'For rooms: Raises the error p_sqlstate where the installation stands on another server, or under '
'another OID, than it is known on, and nobody has confirmed it. Locks: none.';
REVOKE ALL ON FUNCTION omd.require_known_server FROM PUBLIC;
