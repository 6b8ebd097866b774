-- Constraints that nothing violates are left out. What was found is looked up per delivery, so that
-- the newest findings of a long history are read from its end.

CREATE OR REPLACE VIEW omd_report.delivery_findings AS
SELECT
    d.delivery_id,
    a.agreement_code,
    e.entity_code,
    f.constraint_code,
    f.constraint_type,
    f.stage,
    f.action,
    f.violations,
    f.existing,
    f.threshold,
    f.threshold_percent,
    f.level
FROM omd_delivery.delivery AS d
INNER JOIN omd_delivery.agreement AS a ON d.agreement_id = a.agreement_id
CROSS JOIN
    LATERAL (
        SELECT
            m.entity_id,
            m.constraint_code,
            m.constraint_type,
            c.stage,
            c.action,
            c.violations,
            c.existing,
            c.threshold,
            c.threshold_percent,
            c.level
        FROM omd_delivery.constraint_result AS c
        INNER JOIN omd_delivery.model_constraint AS m ON c.constraint_id = m.constraint_id
        WHERE c.delivery_id = d.delivery_id AND c.attempt = d.attempt AND c.level <> 'NONE'
        UNION ALL
        SELECT
            r.entity_id,
            x.key AS constraint_code,
            'finding' AS constraint_type,
            r.stage,
            NULL AS action,
            x.value::bigint AS violations,
            0 AS existing,
            NULL AS threshold,
            NULL AS threshold_percent,
            'FINDING' AS level
        FROM omd_delivery.entity_result AS r
        CROSS JOIN LATERAL jsonb_each_text(r.findings) AS x
        WHERE r.delivery_id = d.delivery_id AND r.attempt = d.attempt AND x.value <> '0'
    ) AS f
INNER JOIN omd_delivery.entity AS e ON f.entity_id = e.entity_id;

COMMENT ON VIEW omd_report.delivery_findings IS 'What the newest run of each delivery found wrong.';
COMMENT ON COLUMN omd_report.delivery_findings.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_report.delivery_findings.agreement_code IS 'The agreement.';
COMMENT ON COLUMN omd_report.delivery_findings.entity_code IS 'The entity.';
COMMENT ON COLUMN omd_report.delivery_findings.constraint_code IS 'The constraint, or the finding.';
COMMENT ON COLUMN omd_report.delivery_findings.constraint_type IS
'The type of the constraint, or finding.';
COMMENT ON COLUMN omd_report.delivery_findings.stage IS 'The stage.';
COMMENT ON COLUMN omd_report.delivery_findings.action IS
'S SKIP ROW, E EMPTY COLUMN, N NO ACTION; NULL where it takes none.';
COMMENT ON COLUMN omd_report.delivery_findings.violations IS 'How many rows, existing ones too.';
COMMENT ON COLUMN omd_report.delivery_findings.existing IS 'How many of them are existing rows.';
COMMENT ON COLUMN omd_report.delivery_findings.threshold IS
'More rows reject the delivery; NULL: no such number.';
COMMENT ON COLUMN omd_report.delivery_findings.threshold_percent IS
'A greater share rejects it; NULL: no such share.';
COMMENT ON COLUMN omd_report.delivery_findings.level IS 'FINDING, WARN or REJECT.';
