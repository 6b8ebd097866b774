-- The view reads one index per Module, so the cost does not grow with history.

CREATE OR REPLACE VIEW omd_report.pending_rollbacks AS
SELECT
    m.module_code,
    m.table_code,
    m.platform_code,
    p.module_instance_ids,
    (
        SELECT min(mi.end_datetime)
        FROM omd.module_instance AS mi
        WHERE mi.module_instance_id = any(p.module_instance_ids)
    ) AS since_datetime,
    omd._companion_instances(m.module_id, p.module_instance_ids) AS companion_instance_ids
FROM omd.module AS m
CROSS JOIN LATERAL omd.pending_rollback(m.module_id) AS p (module_instance_ids)
WHERE p.module_instance_ids <> '{}';

COMMENT ON VIEW omd_report.pending_rollbacks IS
'Modules whose next begin rolls something back first.';
COMMENT ON COLUMN omd_report.pending_rollbacks.module_code IS 'The Module.';
COMMENT ON COLUMN omd_report.pending_rollbacks.table_code IS 'Its target.';
COMMENT ON COLUMN omd_report.pending_rollbacks.platform_code IS 'The platform of its target.';
COMMENT ON COLUMN omd_report.pending_rollbacks.module_instance_ids IS
'The instances to undo, in the order of their IDs.';
COMMENT ON COLUMN omd_report.pending_rollbacks.since_datetime IS
'When the first of them ended; NULL when that is not known.';
COMMENT ON COLUMN omd_report.pending_rollbacks.companion_instance_ids IS
'The instances of companion Modules that are undone with them; NULL when there are none.';
