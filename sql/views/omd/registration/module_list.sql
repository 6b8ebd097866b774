-- The newest instance and the pending rollback are found by a look into an index per Module,
-- whatever the history.

CREATE OR REPLACE VIEW omd_report.module_list AS
SELECT
    m.module_id,
    m.module_code,
    m.module_description,
    m.area_code,
    m.table_code,
    m.table_type_code,
    m.platform_code,
    m.inactive_indicator,
    ARRAY(
        SELECT b.batch_code
        FROM omd.batch_module AS bm
        INNER JOIN omd.batch AS b ON bm.batch_id = b.batch_id
        WHERE bm.module_id = m.module_id
        ORDER BY b.batch_code
    ) AS batch_codes,
    last_run.module_instance_id AS last_module_instance_id,
    last_run.execution_status_code AS last_execution_status_code,
    last_run.start_datetime AS last_start_datetime,
    last_run.end_datetime AS last_end_datetime,
    omd.pending_rollback(m.module_id) AS pending_rollback,
    m.module_kind_code,
    m.engine_code,
    m.job
FROM omd.module AS m
LEFT JOIN LATERAL (
    SELECT
        mi.module_instance_id,
        mi.execution_status_code,
        mi.start_datetime,
        mi.end_datetime
    FROM omd.module_instance AS mi
    -- Not =, with which the planner would walk the primary key past other Modules.
    WHERE mi.module_id >= m.module_id AND mi.module_id <= m.module_id
    ORDER BY mi.module_id DESC, mi.module_instance_id DESC
    LIMIT 1
) AS last_run ON TRUE;

COMMENT ON VIEW omd_report.module_list IS
'Modules, each with its newest instance and its pending rollback.';
COMMENT ON COLUMN omd_report.module_list.module_id IS 'Surrogate key of the Module.';
COMMENT ON COLUMN omd_report.module_list.module_code IS 'The Module.';
COMMENT ON COLUMN omd_report.module_list.module_description IS
'What the Module loads; NULL when no description was given.';
COMMENT ON COLUMN omd_report.module_list.area_code IS 'The area of its target.';
COMMENT ON COLUMN omd_report.module_list.table_code IS 'Its target.';
COMMENT ON COLUMN omd_report.module_list.table_type_code IS
'The type of its target; NULL when none was given.';
COMMENT ON COLUMN omd_report.module_list.platform_code IS 'The platform of its target.';
COMMENT ON COLUMN omd_report.module_list.inactive_indicator IS
'Y: each run of the Module is skipped.';
COMMENT ON COLUMN omd_report.module_list.batch_codes IS 'The Batches that it belongs to.';
COMMENT ON COLUMN omd_report.module_list.last_module_instance_id IS
'The newest instance, whatever its status; NULL when the Module has never run.';
COMMENT ON COLUMN omd_report.module_list.last_execution_status_code IS
'The status of the newest instance; NULL when the Module has never run.';
COMMENT ON COLUMN omd_report.module_list.last_start_datetime IS
'When the newest instance started; NULL when the Module has never run.';
COMMENT ON COLUMN omd_report.module_list.last_end_datetime IS
'When the newest instance ended; NULL when the Module has never run or executes.';
COMMENT ON COLUMN omd_report.module_list.pending_rollback IS
'The instances that a begin would roll back now.';
COMMENT ON COLUMN omd_report.module_list.module_kind_code IS 'What one run of the Module is.';
COMMENT ON COLUMN omd_report.module_list.engine_code IS
'Who performs a run: POSTGRES or SPARK; NULL for PART, which never runs on its own, and for a JOB '
'that a program outside begins.';
COMMENT ON COLUMN omd_report.module_list.job IS
'The function that is a run of a Module of kind JOB; NULL when there is none.';
