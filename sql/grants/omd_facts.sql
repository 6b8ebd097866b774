-- These grants say which roles may read and edit the tables of facts. The file of each routine says
-- which roles may call it. Nothing is granted to PUBLIC. Facts themselves are in the schemas of the
-- interfaces, for omd_data_reader, which sets its moment in this schema.

GRANT USAGE ON SCHEMA omd_facts TO omd_reader, omd_data_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA omd_facts, omd_report TO omd_reader;

-- An own key is a value of business rows.
CALL omd.hide_columns('omd_facts.change_slice', '{own_key}');
