-- V011: better words for comments of released migrations, which are never edited. It changes no
-- data, and its locks wait for no run.

COMMENT ON COLUMN omd.batch_instance.lease_expires_at IS
'After this moment the run is declared dead, unless its lease is renewed; NULL when it has no '
'lease.';
COMMENT ON COLUMN omd.module_instance.lease_expires_at IS
'After this moment the run is declared dead, unless its lease is renewed; NULL when it has no '
'lease.';
COMMENT ON COLUMN omd.source_control.is_taken_back IS
'The load window was withdrawn, since its instance was rolled back. It is kept for audit, and no '
'reader counts it.';
