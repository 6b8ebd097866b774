-- A suspension is three tables; people read it as one row.

CREATE OR REPLACE VIEW omd_report.dispatch_suspensions AS
SELECT
    s.suspension_id,
    s.family_code,
    (
        SELECT array_agg(t.task_type ORDER BY t.task_type)
        FROM omd_dispatch.task_suspension_types AS t
        WHERE t.suspension_id = s.suspension_id
    ) AS task_types,
    (
        SELECT jsonb_object_agg(c.criterion, c.criterion_values)
        FROM (
            SELECT
                k.criterion,
                jsonb_agg(k.criterion_value ORDER BY k.criterion_value) AS criterion_values
            FROM omd_dispatch.task_suspension_criteria AS k
            WHERE k.suspension_id = s.suspension_id
            GROUP BY k.criterion
        ) AS c
    ) AS criteria,
    s.reason,
    s.suspended_at,
    s.suspended_by,
    s.is_marked,
    s.resumed_at
FROM omd_dispatch.task_suspension AS s;

COMMENT ON VIEW omd_report.dispatch_suspensions IS
'Every suspension that holds, or still lets tasks go.';
COMMENT ON COLUMN omd_report.dispatch_suspensions.suspension_id IS
'The suspension.';
COMMENT ON COLUMN omd_report.dispatch_suspensions.family_code IS
'The family.';
COMMENT ON COLUMN omd_report.dispatch_suspensions.task_types IS
'The types that it holds; NULL: all.';
COMMENT ON COLUMN omd_report.dispatch_suspensions.criteria IS
'Of each criterion the values that it holds; NULL: all.';
COMMENT ON COLUMN omd_report.dispatch_suspensions.reason IS
'Why; NULL when no reason was given.';
COMMENT ON COLUMN omd_report.dispatch_suspensions.suspended_at IS
'Since when.';
COMMENT ON COLUMN omd_report.dispatch_suspensions.suspended_by IS
'By whom.';
COMMENT ON COLUMN omd_report.dispatch_suspensions.is_marked IS
'All pending tasks that it holds are marked; it holds them before, too.';
COMMENT ON COLUMN omd_report.dispatch_suspensions.resumed_at IS
'When it was resumed; NULL: it holds.';
