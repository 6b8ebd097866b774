-- This is the only place that decides whether the server is known; omd doctor asks it too.

CREATE OR REPLACE FUNCTION omd.server_is_known()
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        coalesce(
            i.system_identifier = s.system_identifier AND i.database_oid = s.database_oid, TRUE
        )
        AND NOT EXISTS (SELECT FROM omd.server_change AS c WHERE c.confirmed_as IS NULL)
    FROM omd.installation AS i
    CROSS JOIN omd._present_server() AS s;
END;

COMMENT ON FUNCTION omd.server_is_known IS
'Returns whether the installation stands on the server and under the OID that it is known on, or '
'somebody has confirmed the change. Locks: none.';
REVOKE ALL ON FUNCTION omd.server_is_known FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.server_is_known TO omd_reader;
