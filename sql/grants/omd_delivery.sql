-- These grants say which roles may read and edit the tables of delivery. The file of each routine
-- says which roles may call it. Nothing is granted to PUBLIC. Business rows are in the schemas
-- of the interfaces, for omd_data_reader.

GRANT USAGE ON SCHEMA omd_delivery TO omd_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA omd_delivery, omd_report TO omd_reader;

-- Samples are business rows.
REVOKE ALL ON omd_delivery.sample FROM omd_reader;
GRANT USAGE ON SCHEMA omd_delivery, omd_report TO omd_data_reader;
GRANT SELECT ON omd_delivery.sample, omd_report.delivery_quarantine TO omd_data_reader;
