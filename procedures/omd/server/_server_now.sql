-- A function, since who compares it, who confirms it and who shows it read it. The timeline is that
-- of the next WAL record: what pg_control_checkpoint() says stays old until a checkpoint.

CREATE OR REPLACE FUNCTION omd._server_now(
    OUT system_identifier bigint,
    OUT database_oid oid,
    OUT timeline_id integer,
    OUT server_start timestamptz,
    OUT table_oid oid
)
RETURNS record
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        c.system_identifier,
        d.oid,
        CASE
            WHEN NOT pg_is_in_recovery() THEN (
                'x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
            )::bit(32)::integer
        END AS timeline_id,
        pg_postmaster_start_time() AS server_start,
        'omd.installation'::regclass::oid AS table_oid
    FROM pg_control_system() AS c
    INNER JOIN pg_database AS d ON d.datname = current_database();
END;

COMMENT ON FUNCTION omd._server_now IS
'Returns the identifier of the server, the OID of this database, the timeline (NULL: a standby), '
'when the server was started, and the OID of omd.installation. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._server_now TO omd_reader;
