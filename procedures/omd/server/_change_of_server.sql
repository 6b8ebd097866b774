-- This is the only place that says what has changed. A server start alone says nothing, and a
-- promotion need not change it. The OID of the table says whether a dump was restored, on the
-- same server too: a copy by TEMPLATE keeps that, and its sequences are those of the original.

CREATE OR REPLACE FUNCTION omd._change_of_server(
    OUT kind text,
    OUT is_behind boolean
)
RETURNS record
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p.timeline_id IS NULL THEN NULL
            WHEN i.system_identifier IS NULL THEN 'FIRST'
            WHEN i.system_identifier <> p.system_identifier THEN 'MOVED'
            WHEN i.database_oid <> p.database_oid THEN 'COPIED'
            WHEN i.timeline_id <> p.timeline_id OR i.table_oid <> p.table_oid THEN 'FAILOVER'
            WHEN
                NOT coalesce(
                    i.server_start = p.server_start
                    AND i.timeline_id = p.timeline_id
                    AND i.table_oid = p.table_oid,
                    FALSE
                ) THEN 'RESTART'
        END AS kind,
        coalesce(
            i.system_identifier <> p.system_identifier
            OR i.timeline_id <> p.timeline_id
            OR i.table_oid <> p.table_oid,
            FALSE
        ) AS is_behind
    FROM omd.installation AS i
    CROSS JOIN omd._server_now() AS p;
END;

COMMENT ON FUNCTION omd._change_of_server IS
'Returns what has changed since the server was noted: MOVED, COPIED, FAILOVER, RESTART; FIRST: '
'nothing was noted; NULL: nothing has changed, or this is a standby. is_behind: the tables may be '
'behind what has been given. Locks: none.';
