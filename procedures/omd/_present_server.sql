-- A function, since both who compares it and who confirms it read it.

CREATE OR REPLACE FUNCTION omd._present_server(
    OUT system_identifier bigint,
    OUT database_oid oid
)
RETURNS record
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        c.system_identifier,
        d.oid
    FROM pg_control_system() AS c
    INNER JOIN pg_database AS d ON d.datname = current_database();
END;

COMMENT ON FUNCTION omd._present_server IS
'Returns the identifier of the server and the OID of this database. Locks: none.';
REVOKE ALL ON FUNCTION omd._present_server FROM PUBLIC;
