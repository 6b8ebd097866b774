-- It shows how far each interface is.

CREATE OR REPLACE VIEW omd_report.facts_state AS
SELECT
    i.interface_code,
    f.traveling_now,
    i.model_version,
    f.model_version AS deployed_version,
    q.queued_items,
    q.oldest_queued,
    u.unfinished_delivery_id IS NOT NULL AS is_blocked,
    u.unfinished_delivery_id,
    p.state IS NOT NULL AS is_paused
FROM omd_delivery.interface AS i
INNER JOIN omd_facts.interface AS f ON i.interface_id = f.interface_id
LEFT JOIN omd.module_pause AS p ON f.module_id = p.module_id
CROSS JOIN
    LATERAL (
        SELECT
            count(*) AS queued_items,
            min(d.queued_datetime) AS oldest_queued
        FROM omd_delivery.delta_queue AS d
        WHERE d.interface_id = i.interface_id AND d.queue_status <> 'PERSISTED'
    ) AS q
CROSS JOIN LATERAL (
    SELECT min(d.delivery_id) AS unfinished_delivery_id
    FROM omd_delivery.delivery AS d
    WHERE
        d.interface_id = i.interface_id
        AND d.layer_code = 'LVL'
        AND d.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED')
) AS u;

COMMENT ON VIEW omd_report.facts_state IS 'How far the facts of each interface are.';
COMMENT ON COLUMN omd_report.facts_state.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.facts_state.traveling_now IS
'The greatest transaction time that is persisted; NULL before the first load.';
COMMENT ON COLUMN omd_report.facts_state.model_version IS 'The version of its model.';
COMMENT ON COLUMN omd_report.facts_state.deployed_version IS
'The version that is deployed for the facts.';
COMMENT ON COLUMN omd_report.facts_state.queued_items IS
'How many accepted deliveries wait to be loaded.';
COMMENT ON COLUMN omd_report.facts_state.oldest_queued IS
'Since when the oldest waits; NULL: none does.';
COMMENT ON COLUMN omd_report.facts_state.is_blocked IS
'Facts can''t be written through views: an LVL delivery is not at an end.';
COMMENT ON COLUMN omd_report.facts_state.unfinished_delivery_id IS
'The oldest such delivery; NULL: there is none.';
COMMENT ON COLUMN omd_report.facts_state.is_paused IS
'Its loads wait after failures, as omd_report.work shows.';
