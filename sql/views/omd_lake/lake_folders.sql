-- Most writes are committed. The view has three parts, so that a query for one state reads only
-- the writes that may have it; maintenance asks for those that are abandoned. A run that is dead
-- and not yet declared dead still counts as writing; the next begin of its Module declares it dead.

CREATE OR REPLACE VIEW omd_report.lake_folders AS
SELECT
    w.module_instance_id,
    m.module_code,
    mi.execution_status_code,
    w.write_number,
    w.table_code,
    w.folder,
    'COMMITTED' AS folder_state,
    w.announced_datetime,
    w.removed_datetime,
    w.commit_id
FROM omd_lake.write_folder AS w
LEFT JOIN omd.module_instance AS mi ON w.module_instance_id = mi.module_instance_id
LEFT JOIN omd.module AS m ON mi.module_id = m.module_id
WHERE w.commit_id IS NOT NULL
UNION ALL
SELECT
    w.module_instance_id,
    m.module_code,
    mi.execution_status_code,
    w.write_number,
    w.table_code,
    w.folder,
    'REMOVED' AS folder_state,
    w.announced_datetime,
    w.removed_datetime,
    w.commit_id
FROM omd_lake.write_folder AS w
LEFT JOIN omd.module_instance AS mi ON w.module_instance_id = mi.module_instance_id
LEFT JOIN omd.module AS m ON mi.module_id = m.module_id
WHERE w.commit_id IS NULL AND w.removed_datetime IS NOT NULL
UNION ALL
SELECT
    w.module_instance_id,
    m.module_code,
    mi.execution_status_code,
    w.write_number,
    w.table_code,
    w.folder,
    CASE
        WHEN mi.execution_status_code = 'E' THEN 'WRITING'
        ELSE 'ABANDONED'
    END AS folder_state,
    w.announced_datetime,
    w.removed_datetime,
    w.commit_id
FROM omd_lake.write_folder AS w
LEFT JOIN omd.module_instance AS mi ON w.module_instance_id = mi.module_instance_id
LEFT JOIN omd.module AS m ON mi.module_id = m.module_id
WHERE w.commit_id IS NULL AND w.removed_datetime IS NULL;

COMMENT ON VIEW omd_report.lake_folders IS
'The writes of runs into lake tables, and what became of their folders.';
COMMENT ON COLUMN omd_report.lake_folders.module_instance_id IS 'The run.';
COMMENT ON COLUMN omd_report.lake_folders.module_code IS 'Its Module; NULL: the run was purged.';
COMMENT ON COLUMN omd_report.lake_folders.execution_status_code IS
'How the run ended, E while it executes; NULL: it was purged.';
COMMENT ON COLUMN omd_report.lake_folders.write_number IS 'The number of the write.';
COMMENT ON COLUMN omd_report.lake_folders.table_code IS 'The table.';
COMMENT ON COLUMN omd_report.lake_folders.folder IS
'Where the files of the write are; NULL: it was committed without having been announced.';
COMMENT ON COLUMN omd_report.lake_folders.folder_state IS
'WRITING: the run executes. COMMITTED: its files are part of the table, or were. ABANDONED: the '
'run ended without committing them, and they can be removed. REMOVED: they were.';
COMMENT ON COLUMN omd_report.lake_folders.announced_datetime IS 'When the write was announced.';
COMMENT ON COLUMN omd_report.lake_folders.removed_datetime IS
'When the folder was removed; NULL: it was not.';
COMMENT ON COLUMN omd_report.lake_folders.commit_id IS
'The commit of the write; NULL: there is none.';
