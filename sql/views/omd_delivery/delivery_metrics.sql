-- It is the history of an entity: how much each delivery brought.

CREATE OR REPLACE VIEW omd_report.delivery_metrics AS
SELECT
    d.delivery_id,
    a.agreement_code,
    e.entity_code,
    de.load_type,
    d.snapshot_datetime,
    d.delivery_status,
    r.rows_delivered,
    r.rows_skipped,
    de.rows_new,
    de.rows_changed,
    de.rows_deleted,
    de.rows_unchanged,
    d.status_datetime - d.created_datetime AS duration
FROM omd_delivery.delivery AS d
INNER JOIN omd_delivery.agreement AS a ON d.agreement_id = a.agreement_id
INNER JOIN omd_delivery.delivery_entity AS de ON d.delivery_id = de.delivery_id
INNER JOIN omd_delivery.entity AS e ON de.entity_id = e.entity_id
LEFT JOIN LATERAL (
    SELECT
        s.rows_delivered,
        s.rows_skipped
    FROM omd_delivery.entity_result AS s
    WHERE
        s.delivery_id = d.delivery_id
        AND s.attempt = d.attempt
        AND s.entity_id = de.entity_id
        AND s.measured_datetime IS NOT NULL
    ORDER BY s.stage DESC
    LIMIT 1
) AS r ON TRUE;

COMMENT ON VIEW omd_report.delivery_metrics IS
'How many rows each delivery brought of each entity.';
COMMENT ON COLUMN omd_report.delivery_metrics.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_report.delivery_metrics.agreement_code IS 'The agreement.';
COMMENT ON COLUMN omd_report.delivery_metrics.entity_code IS 'The entity.';
COMMENT ON COLUMN omd_report.delivery_metrics.load_type IS 'FULL or DELTA.';
COMMENT ON COLUMN omd_report.delivery_metrics.snapshot_datetime IS 'Its time T.';
COMMENT ON COLUMN omd_report.delivery_metrics.delivery_status IS 'Its status.';
COMMENT ON COLUMN omd_report.delivery_metrics.rows_delivered IS
'How many rows were delivered; NULL before they were counted.';
COMMENT ON COLUMN omd_report.delivery_metrics.rows_skipped IS
'How many were skipped; NULL before they were counted.';
COMMENT ON COLUMN omd_report.delivery_metrics.rows_new IS
'How many were new; NULL before they were applied.';
COMMENT ON COLUMN omd_report.delivery_metrics.rows_changed IS
'How many had changed; NULL before they were applied.';
COMMENT ON COLUMN omd_report.delivery_metrics.rows_deleted IS
'How many were deleted; NULL before they were applied.';
COMMENT ON COLUMN omd_report.delivery_metrics.rows_unchanged IS
'How many had no effect; NULL before they were applied.';
COMMENT ON COLUMN omd_report.delivery_metrics.duration IS
'From its creation to its present status.';
