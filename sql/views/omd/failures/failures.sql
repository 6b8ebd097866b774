-- The view reads the one event that each failure writes, and not the instances: the event log is
-- far smaller, and its order and its dates have indexes. A run may log events of the same type
-- before and after its failure, so the first event at or after the end of the run is the failure's.

CREATE OR REPLACE VIEW omd_report.failures AS
SELECT
    e.event_id,
    e.event_datetime,
    CASE WHEN e.module_instance_id = 0 THEN 'BATCH' ELSE 'MODULE' END AS instance_type,
    CASE
        WHEN e.module_instance_id = 0 THEN e.batch_instance_id ELSE e.module_instance_id
    END AS instance_id,
    CASE WHEN e.module_instance_id = 0 THEN b.batch_code ELSE m.module_code END AS code,
    e.batch_instance_id,
    b.batch_code,
    m.module_code,
    CASE
        WHEN e.module_instance_id = 0 THEN bi.start_datetime ELSE mi.start_datetime
    END AS start_datetime,
    e.event_return_code_details,
    omd.failure_text(e.event_return_code_details, e.event_detail, m.module_id) AS event_detail,
    mi.rolled_back_by_module_instance_id IS NOT NULL AS is_rolled_back,
    mi.rolled_back_by_module_instance_id
FROM omd.event_log AS e
LEFT JOIN omd.module_instance AS mi ON e.module_instance_id = mi.module_instance_id
LEFT JOIN omd.module AS m ON mi.module_id = m.module_id
LEFT JOIN omd.batch_instance AS bi ON e.batch_instance_id = bi.batch_instance_id
LEFT JOIN omd.batch AS b ON bi.batch_id = b.batch_id
WHERE
    e.event_type_code = 2
    AND CASE
        WHEN e.module_instance_id <> 0
            THEN
                mi.execution_status_code = 'F'
                AND e.event_id = (
                    SELECT min(f.event_id)
                    FROM omd.event_log AS f
                    WHERE
                        f.module_instance_id = e.module_instance_id
                        AND f.module_instance_id <> 0
                        AND f.event_type_code = 2
                        AND f.event_datetime >= mi.end_datetime
                )
        ELSE
            b.batch_id IS NOT NULL
            AND bi.execution_status_code = 'F'
            AND e.event_id = (
                SELECT min(f.event_id)
                FROM omd.event_log AS f
                WHERE
                    f.batch_instance_id = e.batch_instance_id
                    AND f.batch_instance_id <> 0
                    AND f.module_instance_id = 0
                    AND f.event_type_code = 2
                    AND f.event_datetime >= bi.end_datetime
            )
    END;

COMMENT ON VIEW omd_report.failures IS
'Failed Batch and Module Instances, with the error and whether they are undone. Conditions on '
'event_datetime and an order by event_id are served by indexes.';
COMMENT ON COLUMN omd_report.failures.event_id IS
'The event of the failure; a higher number was written later.';
COMMENT ON COLUMN omd_report.failures.event_datetime IS 'When it failed.';
COMMENT ON COLUMN omd_report.failures.instance_type IS 'BATCH or MODULE.';
COMMENT ON COLUMN omd_report.failures.instance_id IS 'The failed instance.';
COMMENT ON COLUMN omd_report.failures.code IS 'The code of the Batch or Module.';
COMMENT ON COLUMN omd_report.failures.batch_instance_id IS
'The Batch Instance that failed, or that called the Module; 0 when none did.';
COMMENT ON COLUMN omd_report.failures.batch_code IS 'Its Batch; NULL when it has none.';
COMMENT ON COLUMN omd_report.failures.module_code IS 'The Module; NULL when a Batch failed.';
COMMENT ON COLUMN omd_report.failures.start_datetime IS 'When the instance started.';
COMMENT ON COLUMN omd_report.failures.event_return_code_details IS
'The code of the error, an SQLSTATE or the type of an exception; NULL when it has none.';
COMMENT ON COLUMN omd_report.failures.event_detail IS
'The full text of the error; NULL when there is none.';
COMMENT ON COLUMN omd_report.failures.is_rolled_back IS
'A later instance has undone it. It is always FALSE for a Batch, since only Modules write rows.';
COMMENT ON COLUMN omd_report.failures.rolled_back_by_module_instance_id IS
'The instance that has undone it; NULL when none has.';
