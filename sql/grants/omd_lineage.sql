-- These grants say which roles may read and edit the tables of lineage. The file of each routine
-- says which roles may call it. Nothing is granted to PUBLIC.

GRANT USAGE ON SCHEMA omd_lineage TO omd_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA omd_lineage, omd_report TO omd_reader;
-- These rows are data of destinations, which not every reader of OMD may see.
REVOKE SELECT ON omd_lineage.replaced_row FROM omd_reader;
GRANT USAGE ON SCHEMA omd_lineage TO omd_data_reader;
GRANT SELECT ON omd_lineage.replaced_row TO omd_data_reader;

-- omd_admin repairs what is stuck by editing these columns; triggers log each edit.
GRANT UPDATE (
    hostid, last, next, attempts, state
) ON omd_lineage.offsets TO omd_admin;
GRANT UPDATE (inactive_indicator) ON omd_lineage.topic TO omd_admin;

-- The text of an error may hold their values. This comes last, so that each installation leaves
-- the rights on a column in the same order.
CALL omd.hide_columns('omd_lineage.offsets', '{state}');
CALL omd.hide_columns('omd_lineage.source_probe', '{problem}');
