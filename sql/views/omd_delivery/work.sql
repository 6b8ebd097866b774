-- The order of deliveries is that of begin_delivery: one of an interface runs at a time. What the
-- view reads has an index, so what has come to an end costs nothing.

CREATE OR REPLACE VIEW omd_delivery.work AS
WITH
unfinished AS (
    SELECT
        d.*,
        d.is_running AND omd_delivery._run_lives(d.delivery_id) AS is_alive
    FROM omd_delivery.delivery AS d
    WHERE
        d.layer_code = 'LVL'
        AND d.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED')
),

-- An agreement goes on with the one that runs, else with its oldest.
next_delivery AS (
    SELECT DISTINCT ON (u.agreement_id) u.*
    FROM unfinished AS u
    ORDER BY u.agreement_id ASC, u.is_alive DESC, u.delivery_id ASC
)

SELECT
    m.module_id,
    CASE
        WHEN n.is_alive THEN 'RUNNING'
        WHEN a.inactive_indicator = 'Y' THEN 'PAUSED'
        WHEN n.delivery_id IS NULL THEN 'IDLE'
        WHEN coalesce(alive.delivery_id, queued.delivery_id) IS NOT NULL THEN 'WAITING'
        ELSE 'READY'
    END AS state,
    CASE
        WHEN n.is_alive THEN 'RUNNING'
        WHEN a.inactive_indicator = 'Y' THEN 'INACTIVE'
        WHEN n.delivery_id IS NULL THEN NULL
        WHEN coalesce(alive.delivery_id, queued.delivery_id) IS NOT NULL THEN 'EARLIER'
        ELSE 'RESUME'
    END AS reason,
    CASE
        WHEN n.is_alive OR a.inactive_indicator = 'Y' THEN NULL
        ELSE
            coalesce(
                'delivery ' || alive.delivery_id,
                'the load of delivery ' || queued.delivery_id
            )
    END AS waits_for,
    n.status_datetime AS since,
    NULL::timestamptz AS not_before,
    CASE WHEN n.is_alive THEN n.batch_instance_id END AS module_instance_id,
    'delivery ' || n.delivery_id AS detail
FROM omd_delivery.agreement AS a
INNER JOIN omd.module_target AS m ON a.batch_code = m.module_code
LEFT JOIN next_delivery AS n ON a.agreement_id = n.agreement_id
LEFT JOIN LATERAL (
    SELECT min(u.delivery_id) AS delivery_id
    FROM unfinished AS u
    WHERE u.interface_id = n.interface_id AND u.delivery_id <> n.delivery_id AND u.is_alive
) AS alive ON NOT n.is_alive
LEFT JOIN LATERAL (
    SELECT min(q.delivery_id) AS delivery_id
    FROM omd_delivery.delta_queue AS q
    WHERE
        q.interface_id = n.interface_id
        AND q.queue_status <> 'PERSISTED'
        AND q.delivery_id <> n.delivery_id
        AND n.delivery_status <> 'ACCEPTED'
        AND (q.delete_type = 'PHYSICAL' OR n.delete_type = 'PHYSICAL')
) AS queued ON NOT n.is_alive
WHERE a.layer_code = 'LVL';

COMMENT ON VIEW omd_delivery.work IS
'For rooms: the agreements of the layer LVL, and what there is to do for each.';
COMMENT ON COLUMN omd_delivery.work.module_id IS 'The Module of the agreement.';
COMMENT ON COLUMN omd_delivery.work.state IS 'RUNNING, PAUSED, READY, WAITING or IDLE.';
COMMENT ON COLUMN omd_delivery.work.reason IS
'RESUME: a delivery is not at its end, and nobody works at it. EARLIER: another one of the '
'interface comes first. INACTIVE: the agreement is. NULL: there is nothing to do.';
COMMENT ON COLUMN omd_delivery.work.waits_for IS 'What it waits for; NULL: nothing.';
COMMENT ON COLUMN omd_delivery.work.since IS 'When the delivery came to where it is.';
COMMENT ON COLUMN omd_delivery.work.not_before IS 'NULL: it has no pause of its own.';
COMMENT ON COLUMN omd_delivery.work.module_instance_id IS
'The Batch Instance that executes; NULL: none does.';
COMMENT ON COLUMN omd_delivery.work.detail IS 'The delivery; NULL: there is none.';
