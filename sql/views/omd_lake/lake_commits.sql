-- A commit stays here when its run was purged, so the joins are outer ones.

CREATE OR REPLACE VIEW omd_report.lake_commits AS
SELECT
    c.commit_id,
    c.table_code,
    c.commit_datetime,
    c.operation,
    m.module_code,
    c.module_instance_id,
    mi.execution_status_code,
    mi.rolled_back_by_module_instance_id,
    c.added_files,
    c.added_rows,
    c.removed_files,
    c.removed_rows,
    c.total_files,
    c.total_rows,
    c.table_format_code,
    c.sequence_number,
    c.snapshot_id,
    c.metadata_location
FROM omd_lake.table_commit AS c
LEFT JOIN omd.module_instance AS mi ON c.module_instance_id = mi.module_instance_id
LEFT JOIN omd.module AS m ON mi.module_id = m.module_id;

COMMENT ON VIEW omd_report.lake_commits IS
'The commits of lake tables that OMD made, and their runs.';
COMMENT ON COLUMN omd_report.lake_commits.commit_id IS 'The commit.';
COMMENT ON COLUMN omd_report.lake_commits.table_code IS 'The table.';
COMMENT ON COLUMN omd_report.lake_commits.commit_datetime IS
'When it was committed; one time for all commits of a transaction.';
COMMENT ON COLUMN omd_report.lake_commits.operation IS
'APPEND, OVERWRITE, HISTORY: a write. UNDO: a rollback. COMPACT, EXPIRE: maintenance. SCHEMA: '
'other columns, partitions or properties.';
COMMENT ON COLUMN omd_report.lake_commits.module_code IS
'The Module of the run; NULL: no run committed, or it was purged.';
COMMENT ON COLUMN omd_report.lake_commits.module_instance_id IS
'The run; NULL: no run committed.';
COMMENT ON COLUMN omd_report.lake_commits.execution_status_code IS
'How the run ended, E while it executes; NULL as for module_code.';
COMMENT ON COLUMN omd_report.lake_commits.rolled_back_by_module_instance_id IS
'The run that undid it; NULL: none did.';
COMMENT ON COLUMN omd_report.lake_commits.added_files IS 'How many data files came.';
COMMENT ON COLUMN omd_report.lake_commits.added_rows IS 'How many rows are in them.';
COMMENT ON COLUMN omd_report.lake_commits.removed_files IS 'How many data files went.';
COMMENT ON COLUMN omd_report.lake_commits.removed_rows IS 'How many rows were in them.';
COMMENT ON COLUMN omd_report.lake_commits.total_files IS
'How many data files were live after it; NULL: not known.';
COMMENT ON COLUMN omd_report.lake_commits.total_rows IS
'How many rows were live after it; NULL: not known.';
COMMENT ON COLUMN omd_report.lake_commits.table_format_code IS 'ICEBERG or DELTA.';
COMMENT ON COLUMN omd_report.lake_commits.sequence_number IS
'The sequence number of Iceberg, or the version of Delta.';
COMMENT ON COLUMN omd_report.lake_commits.snapshot_id IS
'The snapshot of Iceberg that is current since; NULL: none.';
COMMENT ON COLUMN omd_report.lake_commits.metadata_location IS
'The metadata file of Iceberg; NULL for Delta.';
