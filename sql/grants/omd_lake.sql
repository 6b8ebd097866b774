-- These grants say which roles may read the tables of the lake, which is what an engine needs that
-- only reads. The file of each routine says which roles may call it. Nothing is granted to PUBLIC.

GRANT USAGE ON SCHEMA omd_lake TO omd_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA omd_lake, omd_report TO omd_reader;
