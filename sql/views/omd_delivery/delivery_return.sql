-- Deliveries of an interface come again in the order of their times, since each is computed against
-- what the one before has left. The first that is open is due; a delivery that somebody has created
-- for an entry is known by its agreement and time. An entry of the same agreement before which
-- another delivery has not ended waits for that one.

CREATE OR REPLACE VIEW omd_delivery.delivery_return AS
SELECT
    r.recall_id,
    r.position,
    a.agreement_id,
    a.agreement_code,
    a.interface_id,
    r.is_by_hand,
    r.former_delivery_id,
    r.snapshot_datetime,
    r.ended_datetime,
    r.delivery_id IS NOT NULL AND r.ended_datetime IS NULL AS is_redelivered,
    coalesce(r.delivery_id, u.delivery_id) AS delivery_id,
    CASE
        WHEN r.drop_reason IS NOT NULL THEN 'DROPPED'
        WHEN r.ended_datetime IS NOT NULL THEN 'DONE'
        WHEN r.delivery_id IS NOT NULL OR u.delivery_id IS NOT NULL THEN 'RUNNING'
        WHEN r.is_by_hand THEN 'BY_HAND'
        WHEN
            EXISTS (
                SELECT
                FROM omd.awaited_return AS e
                INNER JOIN omd_delivery.agreement AS b ON e.module_code = b.batch_code
                WHERE
                    b.interface_id = a.interface_id
                    AND e.ended_datetime IS NULL
                    AND (e.snapshot_datetime, e.recall_id, e.position)
                    < (r.snapshot_datetime, r.recall_id, r.position)
            )
            OR EXISTS (
                SELECT
                FROM omd_delivery.delivery AS o
                WHERE
                    o.interface_id = a.interface_id
                    AND o.layer_code = 'LVL'
                    AND o.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED')
                    AND o.delivery_status <> 'ACCEPTED'
                    AND o.agreement_id = a.agreement_id
                    AND o.snapshot_datetime < r.snapshot_datetime
            )
            THEN 'WAITING'
        ELSE 'DUE'
    END AS return_status,
    r.drop_reason,
    r.problem
FROM omd.awaited_return AS r
INNER JOIN omd_delivery.agreement AS a ON r.module_code = a.batch_code
LEFT JOIN LATERAL (
    SELECT o.delivery_id
    FROM omd_delivery.delivery AS o
    WHERE
        r.ended_datetime IS NULL
        AND o.interface_id = a.interface_id
        AND o.layer_code = 'LVL'
        AND o.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED')
        AND o.delivery_status <> 'ACCEPTED'
        AND o.agreement_id = a.agreement_id
        AND o.snapshot_datetime = r.snapshot_datetime
        AND NOT o.is_dry_run
    ORDER BY o.delivery_id
    LIMIT 1
) AS u ON TRUE
WHERE r.module_kind_code = 'DELIVERY';

COMMENT ON VIEW omd_delivery.delivery_return IS
'For rooms: the deliveries that recalls took back and that must come again, open or not.';
COMMENT ON COLUMN omd_delivery.delivery_return.recall_id IS 'The recall.';
COMMENT ON COLUMN omd_delivery.delivery_return.position IS 'The place in it.';
COMMENT ON COLUMN omd_delivery.delivery_return.agreement_id IS 'The agreement.';
COMMENT ON COLUMN omd_delivery.delivery_return.agreement_code IS 'Its code.';
COMMENT ON COLUMN omd_delivery.delivery_return.interface_id IS 'The interface.';
COMMENT ON COLUMN omd_delivery.delivery_return.is_by_hand IS 'Its tenant must bring it.';
COMMENT ON COLUMN omd_delivery.delivery_return.former_delivery_id IS
'The delivery that was taken back, or withdrawn.';
COMMENT ON COLUMN omd_delivery.delivery_return.snapshot_datetime IS 'Its snapshot.';
COMMENT ON COLUMN omd_delivery.delivery_return.ended_datetime IS
'When the entry was filled or dropped; NULL: it is open.';
COMMENT ON COLUMN omd_delivery.delivery_return.is_redelivered IS
'Whether it is open, and a worker delivers it from its recorded files.';
COMMENT ON COLUMN omd_delivery.delivery_return.delivery_id IS
'The delivery that fills the entry, or is to; NULL: there is none.';
COMMENT ON COLUMN omd_delivery.delivery_return.return_status IS
'BY_HAND: its tenant must bring it. WAITING: another one comes first. DUE: a worker may take it. '
'RUNNING: there is a delivery that has not ended. DONE: it is filled. DROPPED: it will not come.';
COMMENT ON COLUMN omd_delivery.delivery_return.drop_reason IS
'Why it will not come; NULL: it was not dropped.';
COMMENT ON COLUMN omd_delivery.delivery_return.problem IS
'Why it can''t come by itself, or what became of one that did; NULL: nothing.';
