-- These grants say which roles may read the tables of provenance. The file of each routine says
-- which roles may call it. Nothing is granted to PUBLIC.

GRANT USAGE ON SCHEMA omd_provenance TO omd_reader, omd_data_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA omd_provenance, omd_report TO omd_reader;
-- It holds keys of persons.
REVOKE SELECT ON omd_provenance.pending_erasure FROM omd_reader;
