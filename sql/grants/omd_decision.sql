-- These grants say which roles may read and write the tables of decision. The file of each routine
-- says which roles may call it. Nothing is granted to PUBLIC.

GRANT USAGE ON SCHEMA omd_decision TO omd_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA omd_decision, omd_report TO omd_reader;

-- What rules were given and what they said, and the records that were rejected, are business rows.
GRANT USAGE ON SCHEMA omd_decision TO omd_data_reader;
GRANT SELECT ON omd_decision.cycle, omd_decision.reject TO omd_data_reader;
REVOKE SELECT ON omd_decision.cycle, omd_decision.reject FROM omd_reader;
GRANT SELECT (
    module_instance_id,
    wave,
    key,
    cycle_no,
    invocation_no,
    inputs,
    outputs
) ON omd_decision.cycle TO omd_reader;
GRANT SELECT (
    module_instance_id,
    wave,
    link,
    arrival,
    code,
    text,
    key,
    cycle_no,
    cause_link
) ON omd_decision.reject TO omd_reader;

-- A run writes what it keeps with the rights of its caller; a trigger refuses all else.
GRANT INSERT ON omd_decision.cycle, omd_decision.reject TO omd_runner;
