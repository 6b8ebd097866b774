-- The event log with names.

CREATE OR REPLACE VIEW omd_report.event_log AS
SELECT
    e.event_id,
    e.event_datetime,
    e.event_type_code,
    t.event_type_description,
    b.batch_code,
    m.module_code,
    e.batch_instance_id,
    e.module_instance_id,
    e.event_return_code_details,
    e.event_detail,
    e.error_bitmap
FROM omd.event_log AS e
INNER JOIN omd.event_type AS t ON e.event_type_code = t.event_type_code
LEFT JOIN omd.batch_instance AS bi ON e.batch_instance_id = bi.batch_instance_id
LEFT JOIN omd.batch AS b ON bi.batch_id = b.batch_id
LEFT JOIN omd.module_instance AS mi ON e.module_instance_id = mi.module_instance_id
LEFT JOIN omd.module AS m ON mi.module_id = m.module_id;

COMMENT ON VIEW omd_report.event_log IS 'The event log, with the names of Batches and Modules.';
COMMENT ON COLUMN omd_report.event_log.event_id IS 'The event, in order of writing.';
COMMENT ON COLUMN omd_report.event_log.event_datetime IS 'When it was written.';
COMMENT ON COLUMN omd_report.event_log.event_type_code IS 'Kind of event.';
COMMENT ON COLUMN omd_report.event_log.event_type_description IS 'Kind of event, in words.';
COMMENT ON COLUMN omd_report.event_log.batch_code IS 'The Batch concerned.';
COMMENT ON COLUMN omd_report.event_log.module_code IS 'The Module concerned.';
COMMENT ON COLUMN omd_report.event_log.batch_instance_id IS
'The Batch Instance concerned; 0 when none is.';
COMMENT ON COLUMN omd_report.event_log.module_instance_id IS
'The Module Instance concerned; 0 when none is.';
COMMENT ON COLUMN omd_report.event_log.event_return_code_details IS
'Code of the error or the change.';
COMMENT ON COLUMN omd_report.event_log.event_detail IS 'The full text.';
COMMENT ON COLUMN omd_report.event_log.error_bitmap IS 'Bits of a data quality check.';
