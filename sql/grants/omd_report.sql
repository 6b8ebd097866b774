-- These grants say which roles may read what stands over all rooms. Nothing is granted to PUBLIC.

GRANT SELECT ON ALL TABLES IN SCHEMA omd_report TO omd_reader;

-- Samples are business rows.
REVOKE ALL ON omd_report.delivery_quarantine FROM omd_reader;
