-- A load takes the oldest item of the queue. A run that has failed leaves its item there, and the
-- next begin undoes it, so only what is to be undone without an item shows as such. The item is
-- looked up for each interface: who asks for one reads the queue of no other.

CREATE OR REPLACE VIEW omd_facts.load_work AS
SELECT
    i.module_id,
    CASE
        WHEN q.queue_id IS NOT NULL AND q.model_version > i.model_version AND u.module_id IS NULL
            THEN 'WAITING'
        WHEN q.queue_id IS NOT NULL OR u.module_id IS NOT NULL THEN 'READY'
        ELSE 'IDLE'
    END AS state,
    CASE
        WHEN q.queue_id IS NOT NULL AND q.model_version > i.model_version AND u.module_id IS NULL
            THEN 'DEPLOYMENT'
        WHEN u.is_wanted OR q.queue_id IS NULL AND u.module_id IS NOT NULL THEN 'UNDO'
        WHEN q.queue_id IS NOT NULL THEN 'QUEUED'
    END AS reason,
    CASE
        WHEN q.model_version > i.model_version AND u.module_id IS NULL
            THEN format('version %s of the model of %s', q.model_version, i.interface_code)
    END AS waits_for,
    coalesce(q.queued_datetime, u.start_datetime) AS since,
    coalesce(
        'delivery ' || q.delivery_id, 'Module Instance ' || u.module_instance_id
    ) AS detail
FROM omd_facts.interface AS i
LEFT JOIN LATERAL (
    SELECT o.*
    FROM omd_delivery.open_queue AS o
    WHERE o.interface_id = i.interface_id
    ORDER BY o.queue_id
    LIMIT 1
) AS q ON TRUE
LEFT JOIN (
    SELECT
        o.module_id,
        min(o.module_instance_id) AS module_instance_id,
        min(o.start_datetime) AS start_datetime,
        bool_or(o.execution_status_code = 'S') AS is_wanted
    FROM omd.open_instance AS o
    WHERE o.is_rollback_pending
    GROUP BY o.module_id
) AS u ON i.module_id = u.module_id;

COMMENT ON VIEW omd_facts.load_work IS
'For rooms: the interfaces, and whether there is something to load.';
COMMENT ON COLUMN omd_facts.load_work.module_id IS 'The Module.';
COMMENT ON COLUMN omd_facts.load_work.state IS 'READY, WAITING or IDLE.';
COMMENT ON COLUMN omd_facts.load_work.reason IS
'QUEUED: a delivery is to be loaded. UNDO: a load is to be undone. DEPLOYMENT: the model of the '
'delivery is not deployed. NULL: there is nothing to do.';
COMMENT ON COLUMN omd_facts.load_work.waits_for IS 'What it waits for; NULL: nothing.';
COMMENT ON COLUMN omd_facts.load_work.since IS
'When the delivery was queued, or the load began that is to be undone.';
COMMENT ON COLUMN omd_facts.load_work.detail IS 'The delivery, or the run; NULL: there is none.';
