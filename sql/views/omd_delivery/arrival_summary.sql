-- What is done comes to be most of it, and one row tells it.

CREATE OR REPLACE VIEW omd_report.arrival_summary AS
SELECT
    a.agreement_code,
    r.arrival_status,
    count(*) AS folders,
    min(r.folder) AS first_folder,
    max(r.folder) AS last_folder,
    max(r.changed_datetime) AS changed_datetime
FROM omd_delivery.arrival AS r
INNER JOIN omd_delivery.agreement AS a ON r.agreement_id = a.agreement_id
GROUP BY a.agreement_code, r.arrival_status;

COMMENT ON VIEW omd_report.arrival_summary IS
'For rooms: How many folders of each agreement are in each state.';
COMMENT ON COLUMN omd_report.arrival_summary.agreement_code IS 'The agreement.';
COMMENT ON COLUMN omd_report.arrival_summary.arrival_status IS
'The state, as in omd_report.arrivals.';
COMMENT ON COLUMN omd_report.arrival_summary.folders IS 'How many they are.';
COMMENT ON COLUMN omd_report.arrival_summary.first_folder IS 'The first of them by name.';
COMMENT ON COLUMN omd_report.arrival_summary.last_folder IS 'The last of them by name.';
COMMENT ON COLUMN omd_report.arrival_summary.changed_datetime IS
'When the content of one of them changed last.';
