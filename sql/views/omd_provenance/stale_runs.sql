-- It takes the place of what facts alone knew of undone changes.

CREATE OR REPLACE VIEW omd_report.stale_runs AS
SELECT
    s.module_instance_id,
    s.module_code,
    s.table_code,
    s.source_instance_id,
    s.undone_by_instance_id,
    s.undone_datetime,
    s.is_exact
FROM omd_provenance._stale_runs() AS s;

COMMENT ON VIEW omd_report.stale_runs IS
'The runs that stand although what they read directly does not.';
COMMENT ON COLUMN omd_report.stale_runs.module_instance_id IS 'The run that stands.';
COMMENT ON COLUMN omd_report.stale_runs.module_code IS 'Its Module.';
COMMENT ON COLUMN omd_report.stale_runs.table_code IS 'The table by which it has read.';
COMMENT ON COLUMN omd_report.stale_runs.source_instance_id IS 'The run that was undone.';
COMMENT ON COLUMN omd_report.stale_runs.undone_by_instance_id IS
'The run that undid it; NULL: no run did, or it is still to be undone.';
COMMENT ON COLUMN omd_report.stale_runs.undone_datetime IS
'When it was undone; NULL: it is still to be.';
COMMENT ON COLUMN omd_report.stale_runs.is_exact IS
'Whether the ledger knows that it has read; false: it may have.';
