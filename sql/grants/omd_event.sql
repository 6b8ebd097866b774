-- These grants say which roles may read the tables of events. The file of each routine says which
-- roles may call it. Nothing is granted to PUBLIC.

GRANT USAGE ON SCHEMA omd_event TO omd_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA omd_event, omd_report TO omd_reader;

-- The address of a webhook may hold a secret, and an answer whatever its receiver wrote.
GRANT USAGE ON SCHEMA omd_event TO omd_data_reader;
CALL omd.hide_columns('omd_event.sink', '{target}');
CALL omd.hide_columns('omd_event.refused_event', '{answer}');
