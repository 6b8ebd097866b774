-- The table omd.event_log holds identifiers; a reader wants names.

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
    CASE
        WHEN e.event_type_code IN (1, 2, 6)
            THEN omd.failure_text(e.event_return_code_details, e.event_detail, m.module_id)
        ELSE e.event_detail
    END AS event_detail,
    e.error_bitmap,
    e.reason
FROM omd.event_log AS e
INNER JOIN omd.event_type AS t ON e.event_type_code = t.event_type_code
LEFT JOIN omd.batch_instance AS bi ON e.batch_instance_id = bi.batch_instance_id
LEFT JOIN omd.batch AS b ON bi.batch_id = b.batch_id
LEFT JOIN omd.module_instance AS mi ON e.module_instance_id = mi.module_instance_id
LEFT JOIN omd.module AS m ON mi.module_id = m.module_id;

COMMENT ON VIEW omd_report.event_log IS 'The event log, with the names of Batches and Modules.';
COMMENT ON COLUMN omd_report.event_log.event_id IS 'The event; a higher number was written later.';
COMMENT ON COLUMN omd_report.event_log.event_datetime IS 'When it was written.';
COMMENT ON COLUMN omd_report.event_log.event_type_code IS 'The type of the event.';
COMMENT ON COLUMN omd_report.event_log.event_type_description IS 'The type of the event in words.';
COMMENT ON COLUMN omd_report.event_log.batch_code IS
'The Batch of the event; NULL when it has none.';
COMMENT ON COLUMN omd_report.event_log.module_code IS
'The Module of the event; NULL when it has none.';
COMMENT ON COLUMN omd_report.event_log.batch_instance_id IS
'The Batch Instance of the event; 0 when it has none.';
COMMENT ON COLUMN omd_report.event_log.module_instance_id IS
'The Module Instance of the event; 0 when it has none.';
COMMENT ON COLUMN omd_report.event_log.event_return_code_details IS
'The code of the error or of the change; NULL when it has none.';
COMMENT ON COLUMN omd_report.event_log.event_detail IS
'The full text; NULL when there is none. Of an error, who has not omd_data_reader sees what '
'omd.shown_failure leaves of it.';
COMMENT ON COLUMN omd_report.event_log.error_bitmap IS
'The bits of a data quality check; NULL when none were given.';
COMMENT ON COLUMN omd_report.event_log.reason IS
'Why it was done, as the setting omd.reason of the session said; NULL: nothing was said.';
