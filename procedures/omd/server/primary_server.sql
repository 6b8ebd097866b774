-- Whoever writes on a standby needs to know where to write. Only pg_read_all_stats sees
-- which server a standby follows, and only pg_read_all_settings its connection string, of which
-- nothing but host and port is shown: it may hold a password.

CREATE OR REPLACE FUNCTION omd.primary_server()
RETURNS text
LANGUAGE sql
STABLE
PARALLEL RESTRICTED
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT p.host || coalesce(' port ' || p.port, '')
    FROM (
        SELECT
            1 AS place,
            r.sender_host AS host,
            r.sender_port::text AS port
        FROM pg_stat_wal_receiver AS r
        UNION ALL
        -- Nothing is received while the primary is away.
        SELECT
            2 AS place,
            trim('''' FROM substring(s.setting FROM $re$\mhost\s*=\s*('[^']*'|\S+)$re$)) AS host,
            trim('''' FROM substring(s.setting FROM $re$\mport\s*=\s*('[^']*'|\S+)$re$)) AS port
        FROM pg_settings AS s
        WHERE s.name = 'primary_conninfo'
    ) AS p
    WHERE pg_is_in_recovery() AND p.host <> ''
    ORDER BY p.place
    LIMIT 1;
END;

COMMENT ON FUNCTION omd.primary_server IS
'For the driver: '
'Returns host and port of the server that this standby follows. NULL: it is no standby, or what it '
'follows is not known, or may not be seen. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.primary_server TO omd_reader;
