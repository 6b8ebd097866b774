-- This is the only place that decides whether the server is known; omd_report.server_problems asks
-- it. It compares the servers itself, so it is right before anybody has settled, and on a standby.

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
        AND (
            i.on_failover = 'GO_ON'
            OR coalesce(i.timeline_id = s.timeline_id AND i.table_oid = s.table_oid, TRUE)
        )
        AND NOT EXISTS (SELECT FROM omd.open_server_change)
    FROM omd.installation AS i
    CROSS JOIN omd._server_now() AS s;
END;

COMMENT ON FUNCTION omd.server_is_known IS
'For rooms: '
'Returns whether the installation stands on the server and under the OID that it is known on, or '
'somebody has confirmed the change. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.server_is_known TO omd_reader;
