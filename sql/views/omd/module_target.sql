-- What rooms may know of a Module. A view and not a function, so that a query over many Modules is
-- planned as one. A run that takes long asks omd.insert_column instead, which holds no lock on a
-- view that an installation replaces.

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
    m.inactive_indicator
FROM omd.module AS m;

COMMENT ON VIEW omd.module_target IS
'For rooms: every Module and the target that it loads.';
COMMENT ON COLUMN omd.module_target.module_id IS 'The Module.';
COMMENT ON COLUMN omd.module_target.module_code IS 'Its code.';
COMMENT ON COLUMN omd.module_target.area_code IS 'The area of its target.';
COMMENT ON COLUMN omd.module_target.table_code IS 'Its target, as registered: schema.table.';
COMMENT ON COLUMN omd.module_target.table_type_code IS 'The type of its target; NULL: none.';
COMMENT ON COLUMN omd.module_target.platform_code IS 'Where its target lives.';
COMMENT ON COLUMN omd.module_target.table_format_code IS
'The format of its target on Spark; NULL: none.';
COMMENT ON COLUMN omd.module_target.insert_instance_column IS
'The column of its target that tells which run inserted a row.';
COMMENT ON COLUMN omd.module_target.inactive_indicator IS 'Y: it is not run.';
