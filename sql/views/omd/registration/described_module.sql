-- A room that tells others about runs reads views of this one, and no tables.

CREATE OR REPLACE VIEW omd.described_module AS
SELECT
    m.module_id,
    m.module_code,
    m.module_description,
    m.module_kind_code,
    m.engine_code,
    m.area_code,
    m.platform_code,
    m.table_format_code,
    m.table_code,
    m.executable,
    m.is_source
FROM omd.module AS m;

COMMENT ON VIEW omd.described_module IS
'For rooms: the Modules, as who tells others about their runs needs them.';
COMMENT ON COLUMN omd.described_module.module_id IS 'The Module.';
COMMENT ON COLUMN omd.described_module.module_code IS 'Its code.';
COMMENT ON COLUMN omd.described_module.module_description IS
'What it loads; NULL when no description was given.';
COMMENT ON COLUMN omd.described_module.module_kind_code IS 'What one run of it is.';
COMMENT ON COLUMN omd.described_module.engine_code IS
'Who performs a run: POSTGRES or SPARK; NULL for PART, and for a JOB that a program outside '
'begins.';
COMMENT ON COLUMN omd.described_module.area_code IS 'The area of its target.';
COMMENT ON COLUMN omd.described_module.platform_code IS 'The platform of its target.';
COMMENT ON COLUMN omd.described_module.table_format_code IS
'The format of its target on Spark; NULL when none was given.';
COMMENT ON COLUMN omd.described_module.table_code IS 'Its target, as registered.';
COMMENT ON COLUMN omd.described_module.executable IS
'The SQL that run_module executes; NULL for a Module that runs elsewhere.';
COMMENT ON COLUMN omd.described_module.is_source IS
'Its runs are a source: omd.source_table has the tables that they write.';
