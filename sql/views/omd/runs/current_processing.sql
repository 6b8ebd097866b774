-- OMD records the user and, for a run in the database, the process. Host and process of any other
-- run are known only from the context that the run gave.

CREATE OR REPLACE VIEW omd_report.current_processing AS
SELECT
    'BATCH'::text AS instance_type,
    bi.batch_instance_id AS instance_id,
    b.batch_code AS code,
    bi.parent_batch_instance_id AS batch_instance_id,
    bi.start_datetime,
    statement_timestamp() - bi.start_datetime AS running_for,
    bi.processing_indicator,
    bi.lease_expires_at,
    bi.execution_context ->> 'host' AS host,
    coalesce(bi.backend_pid::text, bi.execution_context ->> 'pid') AS pid,
    coalesce(bi.started_by, bi.execution_context ->> 'user') AS user_name,
    CASE
        WHEN bi.is_session_bound THEN omd.session_lives('BATCH', bi.batch_instance_id)
    END AS session_lives
FROM omd.batch_instance AS bi
INNER JOIN omd.batch AS b ON bi.batch_id = b.batch_id
WHERE bi.execution_status_code = 'E'
UNION ALL
SELECT
    'MODULE' AS instance_type,
    mi.module_instance_id AS instance_id,
    m.module_code AS code,
    mi.batch_instance_id,
    mi.start_datetime,
    statement_timestamp() - mi.start_datetime AS running_for,
    mi.processing_indicator,
    mi.lease_expires_at,
    mi.execution_context ->> 'host' AS host,
    coalesce(mi.backend_pid::text, mi.execution_context ->> 'pid') AS pid,
    coalesce(mi.started_by, mi.execution_context ->> 'user') AS user_name,
    CASE
        WHEN mi.is_session_bound THEN omd.session_lives('MODULE', mi.module_instance_id)
    END AS session_lives
FROM omd.module_instance AS mi
INNER JOIN omd.module AS m ON mi.module_id = m.module_id
WHERE mi.execution_status_code = 'E';

COMMENT ON VIEW omd_report.current_processing IS 'Batch and Module Instances that execute now.';
COMMENT ON COLUMN omd_report.current_processing.instance_type IS 'BATCH or MODULE.';
COMMENT ON COLUMN omd_report.current_processing.instance_id IS 'The instance.';
COMMENT ON COLUMN omd_report.current_processing.code IS 'The code of the Batch or Module.';
COMMENT ON COLUMN omd_report.current_processing.batch_instance_id IS
'The Batch Instance that called it; 0 when none did.';
COMMENT ON COLUMN omd_report.current_processing.start_datetime IS 'When it started.';
COMMENT ON COLUMN omd_report.current_processing.running_for IS 'How long it has been running.';
COMMENT ON COLUMN omd_report.current_processing.processing_indicator IS
'P: it runs. R: it rolls back. A: it is not evaluated yet.';
COMMENT ON COLUMN omd_report.current_processing.lease_expires_at IS
'When its lease expires; NULL when it has none.';
COMMENT ON COLUMN omd_report.current_processing.host IS
'The host that it runs on, as its context says; NULL when the context does not say.';
COMMENT ON COLUMN omd_report.current_processing.pid IS
'The process that runs it: the backend of a run in the database, else the process of the driver '
'on that host, as its context says; NULL when that is not known.';
COMMENT ON COLUMN omd_report.current_processing.user_name IS
'The user who began it: the role that connected and, after SET ROLE, the role that it had taken '
'on. For a run of an earlier version it is what its context says; NULL when that is not known.';
COMMENT ON COLUMN omd_report.current_processing.session_lives IS
'TRUE when the database session that runs it lives; NULL when no database session runs it.';
