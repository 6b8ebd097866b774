-- The newest change is the one that an administrator looks for.

CREATE OR REPLACE VIEW omd_report.server_changes AS
SELECT
    c.server_change_id,
    c.noticed_at,
    c.kind,
    c.system_identifier,
    c.timeline_id,
    c.ids_skipped,
    c.confirmed_as,
    c.confirmed_at,
    c.confirmed_by,
    c.reason
FROM omd.server_change AS c
ORDER BY c.server_change_id DESC;

COMMENT ON VIEW omd_report.server_changes IS
'The changes of the server under the installation, the newest first, and what an administrator '
'said.';
COMMENT ON COLUMN omd_report.server_changes.server_change_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_report.server_changes.noticed_at IS 'When it was noticed.';
COMMENT ON COLUMN omd_report.server_changes.kind IS
'FAILOVER: another timeline, or a dump that was restored over this database. MOVED: another '
'server. COPIED: another OID of the database.';
COMMENT ON COLUMN omd_report.server_changes.system_identifier IS
'The identifier of the server then.';
COMMENT ON COLUMN omd_report.server_changes.timeline_id IS 'Its timeline then.';
COMMENT ON COLUMN omd_report.server_changes.ids_skipped IS
'So many numbers of each sequence were passed over; NULL: none.';
COMMENT ON COLUMN omd_report.server_changes.confirmed_as IS
'MOVED: this is the installation now. COPY: the other one goes on. NULL: nobody has said.';
COMMENT ON COLUMN omd_report.server_changes.confirmed_at IS 'When somebody said it.';
COMMENT ON COLUMN omd_report.server_changes.confirmed_by IS 'Who said it.';
COMMENT ON COLUMN omd_report.server_changes.reason IS 'Why.';
