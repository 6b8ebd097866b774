-- A declaration by hand holds instead of what the catalogue says; those that held before count for
-- the runs under them and are not here.

CREATE OR REPLACE VIEW omd_report.module_inputs AS
SELECT
    m.module_code,
    i.table_code,
    i.read_kind
FROM omd.module_input AS i
INNER JOIN omd.module AS m ON i.module_id = m.module_id
WHERE i.upto_id IS NULL;

COMMENT ON VIEW omd_report.module_inputs IS
'What the next run of each Module reads, as far as somebody knows: one row per table. A Module '
'that nobody knows of, or that reads nothing, has no row.';
COMMENT ON COLUMN omd_report.module_inputs.module_code IS 'The Module.';
COMMENT ON COLUMN omd_report.module_inputs.table_code IS
'The table; of a view the tables under it.';
COMMENT ON COLUMN omd_report.module_inputs.read_kind IS
'ALL, WINDOW (by positions) or RUNS (by runs).';
