-- The driver calls it when it connects, so that it is a transaction of its own: settled by a begin
-- inside of a long transaction, it would stop every other begin until that one ends.

CREATE OR REPLACE PROCEDURE omd.settle_server(
    INOUT p_kind text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $settle_server$
BEGIN
    p_kind := omd._settle_server();
    IF p_kind = 'FIRST' THEN
        p_kind := NULL;
    END IF;
END
$settle_server$;

COMMENT ON PROCEDURE omd.settle_server IS
'For programs: '
'Compares the server with the one that is noted, and settles what has changed, as each call does '
'that gives an ID. p_kind: RESTART, which is noted only; FAILOVER: the server has another '
'timeline, or a dump was restored over this database; MOVED: it is another server; COPIED: the '
'database has another OID; NULL: nothing has changed, or this is a standby. Where rows may be '
'missing, each sequence passes over a million numbers, so that no ID is given twice. Call it in a '
'transaction of its own: others wait until it ends. Locks: the row of omd.installation, for which '
'only a change waits. Call again when the answer was lost. May be NULL: p_kind.';
GRANT EXECUTE ON PROCEDURE omd.settle_server TO omd_runner, omd_admin;
