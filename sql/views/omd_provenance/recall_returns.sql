-- Deliveries know themselves whose turn it is; a run is due when nothing is to come of what it had
-- read, as in omd_report.work, and no run of its Module by hand.

CREATE OR REPLACE VIEW omd_report.recall_returns AS
SELECT
    r.recall_id,
    r.position,
    r.module_kind_code,
    coalesce(d.agreement_code, r.module_code) AS code,
    r.former_delivery_id,
    r.snapshot_datetime,
    CASE
        WHEN d.recall_id IS NOT NULL THEN d.return_status
        WHEN r.drop_reason IS NOT NULL THEN 'DROPPED'
        WHEN r.ended_datetime IS NOT NULL THEN 'DONE'
        WHEN x.module_id IS NOT NULL THEN 'RUNNING'
        WHEN r.is_by_hand THEN 'BY_HAND'
        WHEN u.is_open THEN 'WAITING'
        ELSE 'DUE'
    END AS return_status,
    r.module_instance_id,
    coalesce(d.delivery_id, r.delivery_id) AS delivery_id,
    coalesce(r.drop_reason, r.problem) AS problem
FROM omd.awaited_return AS r
LEFT JOIN omd_delivery.delivery_return AS d
    ON r.recall_id = d.recall_id AND r.position = d.position
LEFT JOIN omd.running_modules() AS x
    ON r.ended_datetime IS NULL AND r.module_id = x.module_id
LEFT JOIN omd.return_work AS w
    ON r.ended_datetime IS NULL AND d.recall_id IS NULL AND r.module_id = w.module_id
LEFT JOIN LATERAL (
    SELECT
        w.module_id IS NULL
        OR EXISTS (
            SELECT FROM omd.awaited_return AS a
            WHERE a.module_id = ANY(w.upstream) AND a.ended_datetime IS NULL
        )
        OR EXISTS (
            SELECT FROM omd.running_modules() AS e WHERE e.module_id = ANY(w.upstream)
        )
        OR EXISTS (
            SELECT
            FROM (
                SELECT
                    t.module_id,
                    t.state
                FROM omd_lineage.topic_work AS t
                UNION ALL
                SELECT
                    l.module_id,
                    l.state
                FROM omd_facts.load_work AS l
                UNION ALL
                SELECT
                    s.module_id,
                    s.state
                FROM omd_decision.stage_work AS s
            ) AS k
            WHERE k.module_id = ANY(w.upstream) AND k.state IN ('READY', 'RUNNING', 'WAITING')
        ) AS is_open
    WHERE r.ended_datetime IS NULL AND d.recall_id IS NULL
) AS u ON TRUE;

COMMENT ON VIEW omd_report.recall_returns IS
'What recalls took back and what must come again from outside: deliveries, and runs of kind SQL '
'and JOB.';
COMMENT ON COLUMN omd_report.recall_returns.recall_id IS 'The recall.';
COMMENT ON COLUMN omd_report.recall_returns.position IS 'The place in it, in the order of coming.';
COMMENT ON COLUMN omd_report.recall_returns.module_kind_code IS 'DELIVERY, SQL or JOB.';
COMMENT ON COLUMN omd_report.recall_returns.code IS 'The agreement of a delivery, else the Module.';
COMMENT ON COLUMN omd_report.recall_returns.former_delivery_id IS
'The delivery that was taken back or withdrawn; NULL: it is none.';
COMMENT ON COLUMN omd_report.recall_returns.snapshot_datetime IS
'The snapshot of that delivery; NULL: it is none.';
COMMENT ON COLUMN omd_report.recall_returns.return_status IS
'BY_HAND: a person must bring it. WAITING: another one comes first. DUE: a worker may take it. '
'RUNNING: it has begun. DONE: it has come. DROPPED: it will not come.';
COMMENT ON COLUMN omd_report.recall_returns.module_instance_id IS
'The run that has filled it; NULL: none.';
COMMENT ON COLUMN omd_report.recall_returns.delivery_id IS
'The delivery that fills it, or is to; NULL: none.';
COMMENT ON COLUMN omd_report.recall_returns.problem IS
'Why it can''t come by itself, what became of one that did, or why it was dropped; NULL: nothing.';
