-- These grants say which roles may read the tables of the page. The file of each routine says which
-- roles may call it. Nothing is granted to PUBLIC.

GRANT USAGE ON SCHEMA omd_web TO omd_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA omd_web TO omd_reader;
