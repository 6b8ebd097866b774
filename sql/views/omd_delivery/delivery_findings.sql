-- Constraints that nothing violates are left out.

CREATE OR REPLACE VIEW omd_report.delivery_findings AS
SELECT
    d.delivery_id,
    a.agreement_code,
    e.entity_code,
    m.constraint_code,
    m.constraint_type,
    c.stage,
    c.action,
    c.violations,
    c.existing,
    c.threshold,
    c.threshold_percent,
    c.level
FROM omd_delivery.delivery AS d
INNER JOIN omd_delivery.agreement AS a ON d.agreement_id = a.agreement_id
INNER JOIN omd_delivery.constraint_result AS c
    ON d.delivery_id = c.delivery_id AND d.attempt = c.attempt
INNER JOIN omd_delivery.model_constraint AS m ON c.constraint_id = m.constraint_id
INNER JOIN omd_delivery.entity AS e ON m.entity_id = e.entity_id
WHERE c.level <> 'NONE'
UNION ALL
SELECT
    d.delivery_id,
    a.agreement_code,
    e.entity_code,
    f.key AS constraint_code,
    'finding' AS constraint_type,
    r.stage,
    NULL AS action,
    f.value::bigint AS violations,
    0 AS existing,
    NULL AS threshold,
    NULL AS threshold_percent,
    'FINDING' AS level
FROM omd_delivery.delivery AS d
INNER JOIN omd_delivery.agreement AS a ON d.agreement_id = a.agreement_id
INNER JOIN omd_delivery.entity_result AS r
    ON d.delivery_id = r.delivery_id AND d.attempt = r.attempt
INNER JOIN omd_delivery.entity AS e ON r.entity_id = e.entity_id
CROSS JOIN LATERAL jsonb_each_text(r.findings) AS f
WHERE f.value <> '0';

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
