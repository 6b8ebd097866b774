-- These grants say which roles may read and edit the tables of process control. The file of each
-- routine says which roles may call it. Nothing is granted to PUBLIC, and omd_owner owns
-- everything.

GRANT USAGE ON SCHEMA omd, omd_report TO omd_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA omd, omd_report TO omd_reader;

-- The text of an error may hold values of business rows. The views show what everybody may see.
GRANT USAGE ON SCHEMA omd TO omd_data_reader;
CALL omd.hide_columns('omd.event_log', '{event_detail}');
CALL omd.hide_columns('omd.module_state', '{last_problem,last_text}');

-- omd_admin directs what runs by editing these columns and rows; triggers check and log each edit.
GRANT UPDATE (next_run_indicator) ON omd.batch_instance, omd.module_instance TO omd_admin;
GRANT UPDATE (inactive_indicator) ON omd.batch,
omd.module,
omd.batch_module,
omd.batch_hierarchy TO omd_admin;
GRANT UPDATE (continue_on_failure) ON omd.batch TO omd_admin;
GRANT INSERT,
UPDATE,
DELETE ON omd.parameter,
omd.batch_parameter,
omd.module_parameter TO omd_admin;
GRANT UPDATE (on_failover) ON omd.installation TO omd_admin;
