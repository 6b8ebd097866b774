-- These grants say which roles may read and edit the tables of dispatch. The file of each routine
-- says which roles may call it. Nothing is granted to PUBLIC.

GRANT USAGE ON SCHEMA omd_dispatch TO omd_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA omd_dispatch, omd_report TO omd_reader;

-- omd_admin corrects schedules and removes backends by hand.
GRANT UPDATE (next_time, inactive_indicator) ON omd_dispatch.task_schedule TO omd_admin;
GRANT DELETE ON omd_dispatch.backend_registration TO omd_admin;

-- The text of an error may hold values of business rows. This comes last, so that each installation
-- leaves the rights on a column in the same order.
GRANT USAGE ON SCHEMA omd_dispatch TO omd_data_reader;
CALL omd.hide_columns('omd_dispatch.task_schedule', '{problem}');
CALL omd.hide_columns('omd_dispatch.task_source', '{problem}');
