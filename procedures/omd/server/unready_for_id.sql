-- Each call that gives an ID asks it before, in a statement of its own or as part of one. It is
-- inlined: that takes 3 microseconds of a begin, and a call of a routine would take ten times as
-- much. It is no view, since whoever installs by psql replaces views, and begins would wait. A
-- promotion does not restart the server, so its timeline is compared too. On a standby the start
-- differs, so nothing behind it is asked.

CREATE OR REPLACE FUNCTION omd.unready_for_id()
RETURNS TABLE (
    is_unready boolean
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT TRUE AS is_unready
    FROM omd.installation AS i
    WHERE
        i.server_start IS DISTINCT FROM pg_postmaster_start_time()
        OR i.table_oid IS DISTINCT FROM i.tableoid
        OR current_setting('synchronous_commit') = 'off'
        -- The timeline as the names of WAL files begin.
        OR NOT starts_with(
            pg_walfile_name(pg_current_wal_insert_lsn()),
            lpad(upper(to_hex(i.timeline_id)), 8, '0')
        );
END;

COMMENT ON FUNCTION omd.unready_for_id IS
'For rooms: Returns one row where omd.get_ready_for_id must be called before an ID is given. '
'Locks: none.';
