-- It is the table as people and tools read it.

CREATE OR REPLACE VIEW omd_report.metric_list AS
SELECT
    m.metric_name,
    m.metric_type,
    m.help,
    m.is_per_code,
    m.label_names,
    m.alert
FROM omd_event.metric AS m;

COMMENT ON VIEW omd_report.metric_list IS
'For the driver: The metrics that there are, without their values.';
COMMENT ON COLUMN omd_report.metric_list.metric_name IS 'The metric.';
COMMENT ON COLUMN omd_report.metric_list.metric_type IS 'counter, gauge or histogram.';
COMMENT ON COLUMN omd_report.metric_list.help IS 'What it counts or measures.';
COMMENT ON COLUMN omd_report.metric_list.is_per_code IS
'It has a series for each Module, Batch, topic, source, agreement, interface or schedule.';
COMMENT ON COLUMN omd_report.metric_list.label_names IS 'Its labels; of a histogram without le.';
COMMENT ON COLUMN omd_report.metric_list.alert IS
'The alert that is made of it: name, condition, lasts, severity, summary; NULL: none.';
