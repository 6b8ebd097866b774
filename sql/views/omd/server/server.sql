-- What is known and what is there stand side by side, so that an administrator sees what differs.

CREATE OR REPLACE VIEW omd_report.server AS
SELECT
    i.installation_id,
    i.installed_at,
    i.product_version,
    i.is_copy,
    i.on_failover,
    i.system_identifier,
    i.database_oid,
    i.timeline_id,
    i.server_start,
    s.system_identifier AS present_system_identifier,
    s.database_oid AS present_database_oid,
    s.timeline_id AS present_timeline_id,
    s.server_start AS present_server_start,
    omd.server_is_known() AS is_known,
    s.timeline_id IS NULL AS is_standby
FROM omd.installation AS i
CROSS JOIN omd._server_now() AS s;

COMMENT ON VIEW omd_report.server IS
'The server that this installation is known on, and the one on which it stands now: one row.';
COMMENT ON COLUMN omd_report.server.installation_id IS
'The identity of the installation; a copy that is confirmed gets another one.';
COMMENT ON COLUMN omd_report.server.installed_at IS 'When it got its identity.';
COMMENT ON COLUMN omd_report.server.product_version IS 'The version of OMD in this database.';
COMMENT ON COLUMN omd_report.server.is_copy IS
'TRUE: an administrator has confirmed that this is a copy of another installation.';
COMMENT ON COLUMN omd_report.server.on_failover IS
'GO_ON: after a failover all go on. ASK: workers wait until an administrator has confirmed it.';
COMMENT ON COLUMN omd_report.server.system_identifier IS 'The identifier of the known server.';
COMMENT ON COLUMN omd_report.server.database_oid IS 'The OID of the database there.';
COMMENT ON COLUMN omd_report.server.timeline_id IS 'The timeline that is known.';
COMMENT ON COLUMN omd_report.server.server_start IS 'The start of the server that is known.';
COMMENT ON COLUMN omd_report.server.present_system_identifier IS
'The identifier of the present server.';
COMMENT ON COLUMN omd_report.server.present_database_oid IS 'The OID of this database.';
COMMENT ON COLUMN omd_report.server.present_timeline_id IS
'The present timeline; NULL: this is a standby.';
COMMENT ON COLUMN omd_report.server.present_server_start IS 'When the server was started.';
COMMENT ON COLUMN omd_report.server.is_known IS
'TRUE: workers, schedulers and loaders start. FALSE: they wait for omd.confirm_server.';
COMMENT ON COLUMN omd_report.server.is_standby IS 'TRUE: the server is a standby.';
