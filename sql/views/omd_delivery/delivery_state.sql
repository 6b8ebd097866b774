-- It reads the partial index of unfinished deliveries, and no ended ones.

CREATE OR REPLACE VIEW omd_report.delivery_state AS
SELECT
    d.delivery_id,
    a.agreement_code,
    i.interface_code,
    d.layer_code,
    d.snapshot_datetime,
    d.delivery_status,
    d.attempt,
    d.batch_instance_id,
    s.is_running,
    now() - d.created_datetime AS age,
    now() - d.status_datetime AS status_age,
    CASE
        WHEN d.delivery_status = 'RECEIVED' THEN 'its data: report_loaded'
        WHEN d.delivery_status = 'ACCEPTED'
            THEN concat('the facts: item ', q.queue_id, ' is ', q.queue_status)
        WHEN s.is_running THEN 'its run'
        WHEN r.delivery_id IS NOT NULL THEN concat('delivery ', r.delivery_id, ', which runs')
        WHEN p.delivery_id IS NOT NULL
            THEN concat('delivery ', p.delivery_id, ', which is not persisted')
        WHEN b.waits_for IS NOT NULL THEN b.waits_for
        WHEN d.is_running THEN 'begin_delivery, since its run is dead'
        ELSE 'begin_delivery'
    END AS waits_for
FROM omd_delivery.delivery AS d
INNER JOIN omd_delivery.agreement AS a ON d.agreement_id = a.agreement_id
INNER JOIN omd_delivery.interface AS i ON d.interface_id = i.interface_id
LEFT JOIN omd_delivery.delta_queue AS q ON d.delivery_id = q.delivery_id
CROSS JOIN
    LATERAL (
        SELECT d.is_running AND omd_delivery._run_lives(d.delivery_id) AS is_running
    ) AS s
LEFT JOIN LATERAL (
    SELECT min(o.delivery_id) AS delivery_id
    FROM omd_delivery.delivery AS o
    WHERE
        o.interface_id = d.interface_id
        AND o.layer_code = 'LVL'
        AND o.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED')
        AND o.is_running
        AND omd_delivery._run_lives(o.delivery_id)
) AS r ON TRUE
LEFT JOIN LATERAL (
    SELECT min(o.delivery_id) AS delivery_id
    FROM omd_delivery.delta_queue AS o
    WHERE
        o.interface_id = d.interface_id
        AND o.queue_status <> 'PERSISTED'
        AND (o.delete_type = 'PHYSICAL' OR d.delete_type = 'PHYSICAL')
) AS p ON TRUE
CROSS JOIN
    LATERAL (
        SELECT omd_delivery._return_before(d.interface_id, d.snapshot_datetime) AS waits_for
    ) AS b
WHERE
    d.layer_code = 'LVL'
    AND d.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED');

COMMENT ON VIEW omd_report.delivery_state IS
'The deliveries that are not at an end, and what each waits for.';
COMMENT ON COLUMN omd_report.delivery_state.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_report.delivery_state.agreement_code IS 'The agreement.';
COMMENT ON COLUMN omd_report.delivery_state.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.delivery_state.layer_code IS 'The layer.';
COMMENT ON COLUMN omd_report.delivery_state.snapshot_datetime IS 'Its time T.';
COMMENT ON COLUMN omd_report.delivery_state.delivery_status IS 'Its status.';
COMMENT ON COLUMN omd_report.delivery_state.attempt IS
'The number of its newest run; 0: it has not begun.';
COMMENT ON COLUMN omd_report.delivery_state.batch_instance_id IS
'The Batch Instance of the newest run; NULL before the first.';
COMMENT ON COLUMN omd_report.delivery_state.is_running IS
'Its newest run executes, and lives.';
COMMENT ON COLUMN omd_report.delivery_state.age IS 'How long ago it was created.';
COMMENT ON COLUMN omd_report.delivery_state.status_age IS 'For how long it has its status.';
COMMENT ON COLUMN omd_report.delivery_state.waits_for IS 'What has to happen next.';
