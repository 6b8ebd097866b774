-- The write ledger has a row per partition; a reader wants a row per write.

CREATE OR REPLACE VIEW omd_report.write_log AS
SELECT
    w.module_instance_id,
    m.module_code,
    w.write_number,
    w.table_code,
    count(*) AS partition_count,
    sum(w.row_count)::bigint AS row_count,
    min(w.write_datetime) AS first_datetime,
    max(w.write_datetime) AS last_datetime
FROM omd.write_ledger AS w
LEFT JOIN omd.module_instance AS mi ON w.module_instance_id = mi.module_instance_id
LEFT JOIN omd.module AS m ON mi.module_id = m.module_id
GROUP BY w.module_instance_id, m.module_code, w.write_number, w.table_code;

COMMENT ON VIEW omd_report.write_log IS
'The writes of each run, with the partitions and rows that were committed. Query it with WHERE '
'module_instance_id = ….';
COMMENT ON COLUMN omd_report.write_log.module_instance_id IS 'The run that wrote.';
COMMENT ON COLUMN omd_report.write_log.module_code IS
'The Module of the run; NULL when the run was purged.';
COMMENT ON COLUMN omd_report.write_log.write_number IS 'The number of the write in its run.';
COMMENT ON COLUMN omd_report.write_log.table_code IS 'The table written to.';
COMMENT ON COLUMN omd_report.write_log.partition_count IS 'How many partitions were committed.';
COMMENT ON COLUMN omd_report.write_log.row_count IS 'How many rows were committed.';
COMMENT ON COLUMN omd_report.write_log.first_datetime IS 'When the first partition was written.';
COMMENT ON COLUMN omd_report.write_log.last_datetime IS 'When the last partition was written.';
