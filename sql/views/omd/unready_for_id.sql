-- Each call that gives an ID reads this view before, in a statement of its own or as part of one:
-- a call of a routine would cost a tenth of a begin. All of it is in memory of the server. A
-- promotion does not restart the server, so its timeline is compared too.

CREATE OR REPLACE VIEW omd.unready_for_id AS
SELECT TRUE AS is_unready
FROM omd.installation AS i
WHERE CASE
    WHEN pg_is_in_recovery() THEN FALSE
    ELSE
        current_setting('synchronous_commit') = 'off'
        OR i.server_start IS DISTINCT FROM pg_postmaster_start_time()
        OR i.table_oid IS DISTINCT FROM i.tableoid
        OR i.timeline_name IS DISTINCT FROM left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
END;

COMMENT ON VIEW omd.unready_for_id IS
'For rooms: one row where omd.get_ready_for_id must be called before an ID is given.';
COMMENT ON COLUMN omd.unready_for_id.is_unready IS 'TRUE.';
