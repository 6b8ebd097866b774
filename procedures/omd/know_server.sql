-- Until something outside depends on the identity, a database may be copied and moved as one likes.

CREATE OR REPLACE FUNCTION omd.know_server()
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    UPDATE omd.installation AS i SET
        system_identifier = s.system_identifier,
        database_oid = s.database_oid
    FROM omd._present_server() AS s
    WHERE i.system_identifier IS NULL;
END;

COMMENT ON FUNCTION omd.know_server IS
'For rooms: Notes the server under the installation, unless it has been noted before. Locks: the '
'row of omd.installation.';
REVOKE ALL ON FUNCTION omd.know_server FROM PUBLIC;
