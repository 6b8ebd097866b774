-- What deliveries have to do, for the one list of work. One index look-up finds the oldest folder
-- of each status, so 10,000 folders that are done cost nothing. What a recall makes come again goes
-- before all else, and what is of a later time waits for it.

CREATE OR REPLACE VIEW omd_delivery.delivery_work AS
SELECT
    a.agreement_code,
    a.batch_code,
    CASE
        WHEN s.what IN ('RUNNING', 'IDLE') THEN s.what
        WHEN s.what = 'INACTIVE' THEN 'PAUSED'
        WHEN s.what IN ('RECALLED', 'RESUME', 'ARRIVED') THEN 'READY'
        ELSE 'WAITING'
    END AS state,
    CASE
        WHEN s.what IN ('CHANGED', 'BY HAND', 'OTHER', 'UNPERSISTED') THEN 'EARLIER'
        WHEN s.what IN ('BEHIND', 'TENANT', 'TURN') THEN 'RECALLED'
        WHEN s.what NOT IN ('RUNNING', 'IDLE') THEN s.what
    END AS reason,
    CASE s.what
        WHEN 'CHANGED'
            THEN format('delivery %s, whose folder %s has changed', d.delivery_id, t.folder)
        WHEN 'BY HAND'
            THEN format('delivery %s, which was not made of a folder', d.delivery_id)
        WHEN 'OTHER' THEN format('delivery %s, which runs', e.delivery_id)
        WHEN 'UNPERSISTED' THEN format('delivery %s, which is not persisted', p.delivery_id)
        WHEN 'INCOMPLETE' THEN format('folder %s of %s', h.folder, a.arrival ->> 'location')
        WHEN 'BEHIND' THEN b.waits_for
        WHEN 'TENANT'
            THEN
                format(
                    'recall %s: its tenant delivers again what was of %s', w.recall_id,
                    w.snapshot_datetime
                )
        WHEN 'TURN' THEN format('recall %s: another delivery comes before it', w.recall_id)
    END AS waits_for,
    CASE s.what
        WHEN 'OTHER' THEN e.status_datetime
        WHEN 'UNPERSISTED' THEN p.queued_datetime
        WHEN 'ARRIVED' THEN f.found_datetime
        WHEN 'INCOMPLETE' THEN h.changed_datetime
        WHEN 'INACTIVE' THEN NULL
        ELSE coalesce(d.status_datetime, m.status_datetime)
    END AS since,
    CASE s.what
        WHEN 'INCOMPLETE'
            THEN
                n.looked_datetime
                + (omd_delivery._arrival_terms(a.arrival) ->> 'every')::interval
    END AS not_before,
    CASE s.what WHEN 'RUNNING' THEN d.batch_instance_id END AS batch_instance_id,
    coalesce(d.delivery_id, m.delivery_id) AS delivery_id,
    s.what,
    CASE
        WHEN d.delivery_id IS NOT NULL THEN t.folder
        WHEN m.delivery_id IS NOT NULL THEN m.folder
        ELSE f.folder
    END AS folder,
    w.recall_id
FROM omd_delivery.agreement AS a
LEFT JOIN omd_delivery.arrival_location AS n ON a.agreement_id = n.agreement_id
LEFT JOIN LATERAL (
    SELECT
        o.delivery_id,
        o.status_datetime,
        o.batch_instance_id,
        o.snapshot_datetime,
        o.delete_type,
        o.is_running AND omd_delivery._run_lives(o.delivery_id) AS is_running
    FROM omd_delivery.delivery AS o
    WHERE
        o.interface_id = a.interface_id
        AND o.layer_code = 'LVL'
        AND o.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED')
        AND o.delivery_status <> 'ACCEPTED'
        AND o.agreement_id = a.agreement_id
    -- One that a recall makes come again may have been created beside one that waits for it.
    ORDER BY o.snapshot_datetime, o.delivery_id
    LIMIT 1
) AS d ON TRUE
LEFT JOIN LATERAL (
    SELECT
        r.recall_id,
        r.snapshot_datetime,
        r.return_status,
        r.is_redelivered
    FROM omd_delivery.delivery_return AS r
    WHERE r.agreement_id = a.agreement_id AND r.ended_datetime IS NULL
    ORDER BY r.snapshot_datetime, r.recall_id, r.position
    LIMIT 1
) AS w ON TRUE
LEFT JOIN omd_delivery.arrival AS t ON d.delivery_id = t.delivery_id
LEFT JOIN LATERAL (
    SELECT
        r.delivery_id,
        r.folder,
        o.status_datetime
    FROM omd_delivery.arrival AS r
    INNER JOIN omd_delivery.delivery AS o ON r.delivery_id = o.delivery_id
    WHERE
        d.delivery_id IS NULL
        AND r.agreement_id = a.agreement_id
        AND r.arrival_status = 'TAKEN'
    ORDER BY r.snapshot_datetime, r.arrival_id
    LIMIT 1
) AS m ON TRUE
LEFT JOIN LATERAL (
    SELECT
        r.folder,
        r.snapshot_datetime,
        r.found_datetime
    FROM omd_delivery.arrival AS r
    WHERE
        d.delivery_id IS NULL
        AND a.arrival IS NOT NULL
        AND r.agreement_id = a.agreement_id
        AND r.arrival_status = 'FOUND'
    ORDER BY r.snapshot_datetime, r.arrival_id
    LIMIT 1
) AS f ON TRUE
LEFT JOIN LATERAL (
    SELECT
        r.folder,
        r.changed_datetime
    FROM omd_delivery.arrival AS r
    WHERE
        d.delivery_id IS NULL
        AND a.arrival IS NOT NULL
        AND r.agreement_id = a.agreement_id
        AND r.arrival_status = 'INCOMPLETE'
    ORDER BY r.snapshot_datetime, r.arrival_id
    LIMIT 1
) AS h ON TRUE
LEFT JOIN LATERAL (
    SELECT
        o.delivery_id,
        o.status_datetime
    FROM omd_delivery.delivery AS o
    WHERE
        (d.delivery_id IS NOT NULL OR f.folder IS NOT NULL OR w.recall_id IS NOT NULL)
        AND o.interface_id = a.interface_id
        AND o.layer_code = 'LVL'
        AND o.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED')
        AND o.is_running
        AND o.agreement_id <> a.agreement_id
        AND omd_delivery._run_lives(o.delivery_id)
    ORDER BY o.delivery_id
    LIMIT 1
) AS e ON TRUE
LEFT JOIN LATERAL (
    SELECT
        q.delivery_id,
        q.queued_datetime
    FROM omd_delivery.delta_queue AS q
    WHERE
        (d.delivery_id IS NOT NULL OR f.folder IS NOT NULL OR w.recall_id IS NOT NULL)
        AND q.interface_id = a.interface_id
        AND q.queue_status <> 'PERSISTED'
        AND (q.delete_type = 'PHYSICAL' OR d.delete_type = 'PHYSICAL')
    ORDER BY q.queue_id
    LIMIT 1
) AS p ON TRUE
LEFT JOIN LATERAL (
    SELECT
        omd_delivery._return_before(
            a.interface_id, coalesce(d.snapshot_datetime, f.snapshot_datetime)
        ) AS waits_for
    WHERE coalesce(d.snapshot_datetime, f.snapshot_datetime) IS NOT NULL
) AS b ON TRUE
CROSS JOIN
    LATERAL (
        SELECT
            CASE
                WHEN d.is_running THEN 'RUNNING'
                WHEN
                    a.inactive_indicator = 'Y'
                    OR a.effective_from > current_date
                    OR a.effective_to < current_date
                    THEN 'INACTIVE'
                WHEN
                    e.delivery_id IS NULL
                    AND p.delivery_id IS NULL
                    AND (w.is_redelivered OR w.return_status = 'DUE')
                    THEN 'RECALLED'
                WHEN t.arrival_status = 'CHANGED' THEN 'CHANGED'
                WHEN
                    b.waits_for IS NOT NULL
                    AND d.delivery_id IS NULL
                    AND w.return_status = 'BY_HAND'
                    THEN 'TENANT'
                WHEN b.waits_for IS NOT NULL THEN 'BEHIND'
                WHEN d.delivery_id IS NOT NULL AND t.folder IS NULL THEN 'BY HAND'
                WHEN e.delivery_id IS NOT NULL THEN 'OTHER'
                WHEN p.delivery_id IS NOT NULL THEN 'UNPERSISTED'
                WHEN d.delivery_id IS NOT NULL OR m.delivery_id IS NOT NULL THEN 'RESUME'
                WHEN f.folder IS NOT NULL THEN 'ARRIVED'
                WHEN w.return_status = 'BY_HAND' THEN 'TENANT'
                WHEN w.return_status = 'WAITING' THEN 'TURN'
                WHEN h.folder IS NOT NULL THEN 'INCOMPLETE'
                ELSE 'IDLE'
            END AS what
    ) AS s
WHERE a.layer_code = 'LVL';

COMMENT ON VIEW omd_delivery.delivery_work IS
'For rooms: What the deliveries of each agreement of the layer LVL have to do.';
COMMENT ON COLUMN omd_delivery.delivery_work.agreement_code IS 'The agreement.';
COMMENT ON COLUMN omd_delivery.delivery_work.batch_code IS 'The Batch as which they run.';
COMMENT ON COLUMN omd_delivery.delivery_work.state IS
'RUNNING: one runs, and lives. PAUSED: the agreement is inactive, or not effective today. READY: '
'take_arrival returns one. WAITING: there is something, but. IDLE: there is nothing.';
COMMENT ON COLUMN omd_delivery.delivery_work.reason IS
'READY: RECALLED, a recall makes one come again; ARRIVED, a folder was found; RESUME, one was '
'begun. WAITING: RECALLED, one that a recall makes come again is first; EARLIER, another delivery '
'is; INCOMPLETE, a folder is not ready. PAUSED: INACTIVE. NULL: there is none.';
COMMENT ON COLUMN omd_delivery.delivery_work.waits_for IS 'What it waits for; NULL: for nothing.';
COMMENT ON COLUMN omd_delivery.delivery_work.since IS
'Since when, by the row that made it so; NULL: no row did.';
COMMENT ON COLUMN omd_delivery.delivery_work.not_before IS
'When it is worth to look again; NULL: at any time.';
COMMENT ON COLUMN omd_delivery.delivery_work.batch_instance_id IS
'The Batch Instance that runs; NULL: none does.';
COMMENT ON COLUMN omd_delivery.delivery_work.delivery_id IS
'The delivery that runs, or that is to be resumed; NULL: there is none.';
COMMENT ON COLUMN omd_delivery.delivery_work.what IS
'What it is in full, for omd_delivery.next_delivery: RUNNING, INACTIVE, RECALLED, RESUME, ARRIVED; '
'CHANGED, its folder was changed; BY HAND, it was not made of a folder; OTHER, one of another '
'agreement runs; UNPERSISTED, one is not persisted; BEHIND, TENANT, TURN, a recall makes one come '
'first; INCOMPLETE, a folder is not ready; IDLE.';
COMMENT ON COLUMN omd_delivery.delivery_work.folder IS
'The folder of that delivery, or the one that was found; NULL: there is none.';
COMMENT ON COLUMN omd_delivery.delivery_work.recall_id IS
'The recall that makes the first one come again; NULL: none does.';
