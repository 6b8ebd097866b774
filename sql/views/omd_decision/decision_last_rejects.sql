-- The last run of a stage is one look into an index.

CREATE OR REPLACE VIEW omd_report.decision_last_rejects AS
SELECT
    s.stage_code,
    r.module_instance_id,
    r.end_datetime,
    r.rows_input,
    r.rows_rejected
FROM omd_decision.stage AS s
CROSS JOIN
    LATERAL (
        SELECT mi.*
        FROM omd.module_instance AS mi
        -- Not =, with which the planner could walk the primary key past other Modules.
        WHERE
            mi.module_id >= s.module_id
            AND mi.module_id <= s.module_id
            AND mi.execution_status_code IN ('S', 'F')
        ORDER BY mi.module_id DESC, mi.module_instance_id DESC
        LIMIT 1
    ) AS r
WHERE r.rows_rejected > 0;

COMMENT ON VIEW omd_report.decision_last_rejects IS
'For rooms: The stages whose last run has rejected records.';
COMMENT ON COLUMN omd_report.decision_last_rejects.stage_code IS 'The stage.';
COMMENT ON COLUMN omd_report.decision_last_rejects.module_instance_id IS 'Its last run.';
COMMENT ON COLUMN omd_report.decision_last_rejects.end_datetime IS 'When that ended.';
COMMENT ON COLUMN omd_report.decision_last_rejects.rows_input IS 'How many records it has read.';
COMMENT ON COLUMN omd_report.decision_last_rejects.rows_rejected IS 'How many it has rejected.';
