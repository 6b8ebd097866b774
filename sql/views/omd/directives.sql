-- What ended instances still ask of the next run.

CREATE OR REPLACE VIEW omd_report.directives AS
SELECT
    'BATCH'::text AS instance_type,
    bi.batch_instance_id AS instance_id,
    b.batch_code AS code,
    bi.next_run_indicator,
    bi.execution_status_code,
    bi.end_datetime
FROM omd.batch_instance AS bi
INNER JOIN omd.batch AS b ON bi.batch_id = b.batch_id
WHERE bi.next_run_indicator IN ('C', 'R')
UNION ALL
SELECT
    'MODULE' AS instance_type,
    mi.module_instance_id AS instance_id,
    m.module_code AS code,
    mi.next_run_indicator,
    mi.execution_status_code,
    mi.end_datetime
FROM omd.module_instance AS mi
INNER JOIN omd.module AS m ON mi.module_id = m.module_id
WHERE mi.next_run_indicator = 'C'
UNION ALL
SELECT
    'MODULE' AS instance_type,
    mi.module_instance_id AS instance_id,
    m.module_code AS code,
    mi.next_run_indicator,
    mi.execution_status_code,
    mi.end_datetime
FROM omd.module_instance AS mi
INNER JOIN omd.module AS m ON mi.module_id = m.module_id
WHERE
    omd._awaits_rollback(
        mi.execution_status_code, mi.next_run_indicator, mi.rolled_back_by_module_instance_id
    )
    AND mi.next_run_indicator = 'R';

COMMENT ON VIEW omd_report.directives IS
'Instances whose Next Run Indicator still asks something of the next run: C skip, R roll back.';
COMMENT ON COLUMN omd_report.directives.instance_type IS 'BATCH or MODULE.';
COMMENT ON COLUMN omd_report.directives.instance_id IS 'The instance.';
COMMENT ON COLUMN omd_report.directives.code IS 'Code of the Batch or Module.';
COMMENT ON COLUMN omd_report.directives.next_run_indicator IS 'C or R.';
COMMENT ON COLUMN omd_report.directives.execution_status_code IS 'Status of the instance.';
COMMENT ON COLUMN omd_report.directives.end_datetime IS 'When the instance ended.';
