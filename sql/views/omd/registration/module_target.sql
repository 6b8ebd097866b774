-- This is a view and not a function, so that a query over many Modules is planned as one. A view
-- also has a cost: a query holds a lock on it, and an installation replaces it. A run that takes
-- long asks omd.insert_column instead.

CREATE OR REPLACE VIEW omd.module_target AS
SELECT
    m.module_id,
    m.module_code,
    m.area_code,
    m.table_code,
    m.table_type_code,
    m.platform_code,
    m.table_format_code,
    m.insert_instance_column,
    m.inactive_indicator,
    m.module_kind_code,
    m.engine_code
FROM omd.module AS m;

COMMENT ON VIEW omd.module_target IS
'For rooms: every Module and the target that it loads.';
COMMENT ON COLUMN omd.module_target.module_id IS 'The Module.';
COMMENT ON COLUMN omd.module_target.module_code IS 'Its code.';
COMMENT ON COLUMN omd.module_target.area_code IS 'The area of its target.';
COMMENT ON COLUMN omd.module_target.table_code IS 'Its target, as registered: schema.table.';
COMMENT ON COLUMN omd.module_target.table_type_code IS
'The type of its target; NULL when none was given.';
COMMENT ON COLUMN omd.module_target.platform_code IS 'The platform of its target.';
COMMENT ON COLUMN omd.module_target.table_format_code IS
'The format of its target on Spark; NULL when none was given.';
COMMENT ON COLUMN omd.module_target.insert_instance_column IS
'The column of its target that holds the Module Instance which inserted the row.';
COMMENT ON COLUMN omd.module_target.inactive_indicator IS 'Y: each run of the Module is skipped.';
COMMENT ON COLUMN omd.module_target.module_kind_code IS 'What one run of the Module is.';
COMMENT ON COLUMN omd.module_target.engine_code IS
'Who performs a run: POSTGRES or SPARK; NULL for PART, and for a JOB that a program outside '
'begins.';
