-- A row per run and table would cost a fifth of a run, so it is derived from what Modules declare,
-- the load windows, and what few runs record themselves. A run under a window that has none has
-- read nothing by it.

CREATE OR REPLACE VIEW omd_report.run_inputs AS
SELECT
    mi.module_instance_id,
    m.module_code,
    i.table_code,
    CASE WHEN i.source_instances IS NULL THEN 'ALL' ELSE 'RUNS' END AS read_kind,
    i.source_instances,
    sc.start_value,
    sc.start_id,
    sc.end_value,
    sc.end_id
FROM omd.run_input AS i
INNER JOIN omd.module_instance AS mi ON i.module_instance_id = mi.module_instance_id
INNER JOIN omd.module AS m ON mi.module_id = m.module_id
LEFT JOIN omd.source_control AS sc
    ON
        i.module_instance_id = sc.module_instance_id
        AND i.source_instances IS NOT NULL
        AND m.module_kind_code <> 'FACTS'
WHERE i.table_code <> ''
UNION
SELECT
    mi.module_instance_id,
    m.module_code,
    i.table_code,
    i.read_kind,
    NULL AS source_instances,
    sc.start_value,
    sc.start_id,
    sc.end_value,
    sc.end_id
FROM omd.module_instance AS mi
INNER JOIN omd.module AS m ON mi.module_id = m.module_id
INNER JOIN omd.module_input AS i
    ON
        mi.module_id = i.module_id
        AND mi.module_instance_id > i.after_id
        AND (i.upto_id IS NULL OR mi.module_instance_id <= i.upto_id)
LEFT JOIN omd.source_control AS sc
    ON mi.module_instance_id = sc.module_instance_id AND i.read_kind = 'WINDOW'
WHERE
    mi.execution_status_code IN ('S', 'E', 'F')
    AND mi.processing_indicator IN ('P', 'R')
    AND (i.read_kind = 'ALL' OR (i.read_kind = 'WINDOW' AND sc.module_instance_id IS NOT NULL));

COMMENT ON VIEW omd_report.run_inputs IS
'What each run has read, or may have read: a row per run and table.';
COMMENT ON COLUMN omd_report.run_inputs.module_instance_id IS 'The run.';
COMMENT ON COLUMN omd_report.run_inputs.module_code IS 'Its Module.';
COMMENT ON COLUMN omd_report.run_inputs.table_code IS
'The table: a view stands for those under it, an offered view of facts for its entity.';
COMMENT ON COLUMN omd_report.run_inputs.read_kind IS
'RUNS: exactly the rows of source_instances. WINDOW: the rows of the table behind the start, up to '
'the end. ALL: any row that was visible.';
COMMENT ON COLUMN omd_report.run_inputs.source_instances IS
'The runs whose rows it has read; NULL: it is no read of RUNS.';
COMMENT ON COLUMN omd_report.run_inputs.start_value IS
'Start of the window, exclusive; NULL: there is none, or it begins at the beginning.';
COMMENT ON COLUMN omd_report.run_inputs.start_id IS
'The id of that position; of facts the number of the change.';
COMMENT ON COLUMN omd_report.run_inputs.end_value IS 'End of the window, inclusive; NULL: none.';
COMMENT ON COLUMN omd_report.run_inputs.end_id IS 'The id of that position.';
