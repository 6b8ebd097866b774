-- A run fixes these values at its begin, so a look before it shows with what it would judge.

CREATE OR REPLACE VIEW omd_report.delivery_thresholds AS
SELECT
    i.interface_code,
    w.agreement_code,
    e.entity_code,
    s.constraint_code,
    s.constraint_type,
    s.stage,
    s.action,
    s.threshold,
    s.threshold_percent,
    s.warn,
    s.warn_percent,
    s.is_enabled
FROM omd_delivery.interface AS i
CROSS JOIN
    LATERAL (
        SELECT
            NULL::text AS agreement_code,
            NULL::jsonb AS settings
        UNION ALL
        SELECT
            a.agreement_code,
            a.settings
        FROM omd_delivery.agreement AS a
        WHERE a.interface_id = i.interface_id AND a.layer_code = 'LVL'
    ) AS w
CROSS JOIN LATERAL omd_delivery._settings(i.interface_id, w.settings) AS s
INNER JOIN omd_delivery.entity AS e ON s.entity_id = e.entity_id
WHERE NOT e.is_retired;

COMMENT ON VIEW omd_report.delivery_thresholds IS
'The actions and thresholds that the next delivery under each agreement is judged by.';
COMMENT ON COLUMN omd_report.delivery_thresholds.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.delivery_thresholds.agreement_code IS
'The agreement, whose settings override those of the model; NULL: the model alone.';
COMMENT ON COLUMN omd_report.delivery_thresholds.entity_code IS
'The entity whose rows violate the constraint.';
COMMENT ON COLUMN omd_report.delivery_thresholds.constraint_code IS 'The constraint.';
COMMENT ON COLUMN omd_report.delivery_thresholds.constraint_type IS 'Its type.';
COMMENT ON COLUMN omd_report.delivery_thresholds.stage IS 'The stage in which it is checked.';
COMMENT ON COLUMN omd_report.delivery_thresholds.action IS
'S: the row is skipped. E: the column is emptied. N: no action. NULL: its type takes none.';
COMMENT ON COLUMN omd_report.delivery_thresholds.threshold IS
'More violating rows reject the delivery. NULL: any number is accepted, but where deletes has no '
'setting at all: then a Full entity about everything that delivers no row may delete none.';
COMMENT ON COLUMN omd_report.delivery_thresholds.threshold_percent IS
'A higher percentage rejects it: of the delivered rows, for deletes of the current rows in its '
'context; NULL: there is no such limit.';
COMMENT ON COLUMN omd_report.delivery_thresholds.warn IS
'More violating rows are a warning; NULL: there is no such limit.';
COMMENT ON COLUMN omd_report.delivery_thresholds.warn_percent IS
'A higher percentage is a warning; NULL: there is no such limit.';
COMMENT ON COLUMN omd_report.delivery_thresholds.is_enabled IS 'It is checked.';
