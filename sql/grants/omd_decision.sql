-- These grants say which roles may read and write the tables of decision. The file of each routine
-- says which roles may call it. Nothing is granted to PUBLIC.

GRANT USAGE ON SCHEMA omd_decision TO omd_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA omd_decision, omd_report TO omd_reader;

-- What rules were given and what they said, and the records that were rejected, are business rows.
GRANT USAGE ON SCHEMA omd_decision TO omd_data_reader;
CALL omd.hide_columns('omd_decision.cycle', '{params, result, trace}');
CALL omd.hide_columns('omd_decision.reject', '{record}');
-- So may be the text of an error that a ruleset has raised.
CALL omd.hide_columns('omd_decision.ruleset_test_result', '{error}');

-- A run writes what it keeps with the rights of its caller; a trigger refuses all else.
GRANT INSERT ON omd_decision.cycle, omd_decision.reject TO omd_runner;
