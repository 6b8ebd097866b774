-- Values for Batches and for Modules stand in two tables; a reader wants one list.

CREATE OR REPLACE VIEW omd_report.parameter_list AS
SELECT
    p.parameter_code,
    b.batch_code,
    NULL::text AS module_code,
    bp.parameter_value
FROM omd.batch_parameter AS bp
INNER JOIN omd.parameter AS p ON bp.parameter_id = p.parameter_id
INNER JOIN omd.batch AS b ON bp.batch_id = b.batch_id
UNION ALL
SELECT
    p.parameter_code,
    NULL AS batch_code,
    m.module_code,
    mp.parameter_value
FROM omd.module_parameter AS mp
INNER JOIN omd.parameter AS p ON mp.parameter_id = p.parameter_id
INNER JOIN omd.module AS m ON mp.module_id = m.module_id;

COMMENT ON VIEW omd_report.parameter_list IS
'Values of parameters: one row per Batch or Module that has one.';
COMMENT ON COLUMN omd_report.parameter_list.parameter_code IS 'The parameter.';
COMMENT ON COLUMN omd_report.parameter_list.batch_code IS
'The Batch that has the value; NULL when a Module has it.';
COMMENT ON COLUMN omd_report.parameter_list.module_code IS
'The Module that has the value; NULL when a Batch has it.';
COMMENT ON COLUMN omd_report.parameter_list.parameter_value IS
'The value as text; NULL when it has none.';
