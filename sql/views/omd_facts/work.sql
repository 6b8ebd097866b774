-- A load takes the oldest item of the queue. A run that has failed leaves its item there, and the
-- next begin undoes it, so only what is to be undone without an item shows as such.

CREATE OR REPLACE VIEW omd_facts.work AS
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
    NULL::timestamptz AS not_before,
    NULL::bigint AS module_instance_id,
    coalesce(
        'delivery ' || q.delivery_id, 'Module Instance ' || u.module_instance_id
    ) AS detail
FROM omd_facts.interface AS i
LEFT JOIN (
    SELECT DISTINCT ON (o.interface_id) o.*
    FROM omd_delivery.open_queue AS o
    ORDER BY o.interface_id, o.queue_id
) AS q ON i.interface_id = q.interface_id
LEFT JOIN (
    SELECT
        o.module_id,
        min(o.module_instance_id) AS module_instance_id,
        min(o.start_datetime) AS start_datetime,
        bool_or(o.execution_status_code = 'S') AS is_wanted
    FROM omd.open_instance AS o
    WHERE o.is_rollback_pending
    GROUP BY o.module_id
) AS u ON i.module_id = u.module_id
UNION ALL
SELECT
    m.module_id,
    CASE WHEN x.inactive_indicator = 'Y' THEN 'PAUSED' ELSE 'READY' END AS state,
    CASE WHEN x.inactive_indicator = 'Y' THEN 'INACTIVE' ELSE 'RESUME' END AS reason,
    NULL AS waits_for,
    x.status_datetime AS since,
    NULL::timestamptz AS not_before,
    NULL::bigint AS module_instance_id,
    'delivery ' || x.delivery_id AS detail
FROM (
    SELECT DISTINCT ON (o.agreement_code) o.*
    FROM omd_delivery.open_export AS o
    ORDER BY o.agreement_code, o.delivery_id
) AS x
INNER JOIN omd.module_target AS m ON m.module_code = 'export.' || x.agreement_code;

COMMENT ON VIEW omd_facts.work IS
'For rooms: the interfaces and the exports, and what there is to do for each.';
COMMENT ON COLUMN omd_facts.work.module_id IS 'The Module.';
COMMENT ON COLUMN omd_facts.work.state IS 'PAUSED, READY, WAITING or IDLE.';
COMMENT ON COLUMN omd_facts.work.reason IS
'QUEUED: a delivery is to be loaded. UNDO: a load is to be undone. RESUME: an export is not at its '
'end. DEPLOYMENT: the model of the delivery is not deployed. INACTIVE: the agreement is. NULL: '
'there is nothing to do.';
COMMENT ON COLUMN omd_facts.work.waits_for IS 'What it waits for; NULL: nothing.';
COMMENT ON COLUMN omd_facts.work.since IS
'When the delivery was queued or ordered, or the load began that is to be undone.';
COMMENT ON COLUMN omd_facts.work.not_before IS 'NULL: it has no pause of its own.';
COMMENT ON COLUMN omd_facts.work.module_instance_id IS 'NULL: the runs themselves tell it.';
COMMENT ON COLUMN omd_facts.work.detail IS 'The delivery, or the run; NULL: there is none.';
