-- The counts are of the plan until it is executed.

CREATE OR REPLACE VIEW omd_report.recalls AS
SELECT
    r.recall_id,
    r.recall_status,
    r.target,
    r.reason,
    r.awaits_correction,
    r.planned_by,
    r.planned_datetime,
    r.executed_by,
    r.executed_datetime,
    r.module_instance_id,
    i.items,
    i.blocked,
    i.rows_go,
    i.rows_back,
    i.rows_gone,
    i.rows_returned
FROM omd_provenance.recall AS r
LEFT JOIN LATERAL (
    SELECT
        count(*) AS items,
        count(*) FILTER (WHERE ri.action = 'BLOCKED') AS blocked,
        sum(ri.rows_go)::bigint AS rows_go,
        sum(ri.rows_back)::bigint AS rows_back,
        sum(ri.rows_gone)::bigint AS rows_gone,
        sum(ri.rows_returned)::bigint AS rows_returned
    FROM omd_provenance.recall_item AS ri
    WHERE ri.recall_id = r.recall_id
) AS i ON TRUE;

COMMENT ON VIEW omd_report.recalls IS
'What was to be taken back with all that was made of it, and whether it was.';
COMMENT ON COLUMN omd_report.recalls.recall_id IS 'The recall.';
COMMENT ON COLUMN omd_report.recalls.recall_status IS
'PLANNED: nothing has happened yet. EXECUTED: it was taken back.';
COMMENT ON COLUMN omd_report.recalls.target IS
'What plan_recall was given: the argument and its value.';
COMMENT ON COLUMN omd_report.recalls.reason IS 'Why, as its planner wrote it.';
COMMENT ON COLUMN omd_report.recalls.awaits_correction IS
'Whether the target itself is to come again, by hand.';
COMMENT ON COLUMN omd_report.recalls.planned_by IS 'Who planned it.';
COMMENT ON COLUMN omd_report.recalls.planned_datetime IS 'When.';
COMMENT ON COLUMN omd_report.recalls.executed_by IS 'Who executed it; NULL: nobody yet.';
COMMENT ON COLUMN omd_report.recalls.executed_datetime IS 'When; NULL: not yet.';
COMMENT ON COLUMN omd_report.recalls.module_instance_id IS
'The run of the Module provenance.recall that took everything back; NULL: none yet.';
COMMENT ON COLUMN omd_report.recalls.items IS 'How many rows its plan has.';
COMMENT ON COLUMN omd_report.recalls.blocked IS 'How many of them are in the way.';
COMMENT ON COLUMN omd_report.recalls.rows_go IS
'How many rows go by the plan; NULL: it is not known of any.';
COMMENT ON COLUMN omd_report.recalls.rows_back IS
'How many come back by the plan; NULL: it is not known of any.';
COMMENT ON COLUMN omd_report.recalls.rows_gone IS
'How many have gone; NULL: it is not executed, or it is not known of any.';
COMMENT ON COLUMN omd_report.recalls.rows_returned IS
'How many have come back; NULL: it is not executed, or it is not known of any.';
