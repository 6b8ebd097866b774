-- What exports have to do, for the one list of work. Unfinished exports have an index of their own,
-- and the newest run of an agreement is the last one of another.

CREATE OR REPLACE VIEW omd_facts.export_work AS
SELECT
    a.agreement_code,
    'export.' || a.agreement_code AS module_code,
    CASE
        WHEN s.what IN ('RUNNING', 'IDLE') THEN s.what
        WHEN s.what = 'INACTIVE' THEN 'PAUSED'
        WHEN s.what IN ('RESUME', 'CHANGED') THEN 'READY'
        ELSE 'WAITING'
    END AS state,
    CASE WHEN s.what NOT IN ('RUNNING', 'IDLE') THEN s.what END AS reason,
    CASE s.what
        WHEN 'DEPLOYMENT' THEN format('deployment of the facts of %s', i.interface_code)
    END AS waits_for,
    CASE s.what
        WHEN 'INACTIVE' THEN NULL
        WHEN 'REPEAT' THEN n.created_datetime
        WHEN 'CHANGED' THEN h.loaded_datetime
        ELSE u.created_datetime
    END AS since,
    CASE s.what WHEN 'REPEAT' THEN n.created_datetime + o.every END AS not_before,
    CASE s.what WHEN 'RUNNING' THEN u.module_instance_id END AS module_instance_id,
    u.delivery_id
FROM omd_delivery.agreement AS a
INNER JOIN omd_delivery.interface AS i ON a.interface_id = i.interface_id
LEFT JOIN omd_facts.interface AS f ON a.interface_id = f.interface_id
CROSS JOIN
    LATERAL (
        SELECT
            a.options -> 'export' IS NOT NULL AS is_by_itself,
            coalesce((a.options #>> '{export,every}')::interval, '0') AS every
    ) AS o
LEFT JOIN LATERAL (
    SELECT
        x.delivery_id,
        x.created_datetime,
        x.module_instance_id,
        omd_facts._export_lives(x.module_instance_id) AS is_running
    FROM omd_facts.export AS x
    INNER JOIN omd_delivery.delivery AS d ON x.delivery_id = d.delivery_id
    WHERE
        x.agreement_code = a.agreement_code
        AND x.exported_datetime IS NULL
        AND d.delivery_status = 'RECEIVED'
        -- One that was only ordered belongs to who ordered it, where nothing begins by itself.
        AND (o.is_by_itself OR x.attempt > 0)
    ORDER BY x.delivery_id
    LIMIT 1
) AS u ON TRUE
LEFT JOIN LATERAL (
    SELECT
        x.created_datetime,
        x.as_of,
        x.newest_instance_id
    FROM omd_facts.export AS x
    WHERE x.agreement_code = a.agreement_code AND x.exported_datetime IS NOT NULL
    ORDER BY x.module_instance_id DESC
    LIMIT 1
) AS n ON TRUE
LEFT JOIN LATERAL (
    SELECT l.loaded_datetime
    FROM omd_facts.load_log AS l
    WHERE o.is_by_itself AND l.interface_id = a.interface_id
    ORDER BY l.module_instance_id DESC
    LIMIT 1
) AS h ON TRUE
CROSS JOIN
    LATERAL (
        SELECT
            CASE
                WHEN u.is_running THEN 'RUNNING'
                WHEN
                    a.inactive_indicator = 'Y'
                    OR a.effective_from > current_date
                    OR a.effective_to < current_date
                    THEN 'INACTIVE'
                WHEN u.delivery_id IS NOT NULL THEN 'RESUME'
                WHEN NOT o.is_by_itself THEN 'IDLE'
                WHEN f.interface_id IS NULL THEN 'DEPLOYMENT'
                WHEN
                    NOT omd_facts._export_is_due(a.interface_id, n.as_of, n.newest_instance_id)
                    THEN 'IDLE'
                WHEN n.created_datetime + o.every > now() THEN 'REPEAT'
                ELSE 'CHANGED'
            END AS what
    ) AS s
WHERE a.layer_code = 'EXPORT';

COMMENT ON VIEW omd_facts.export_work IS
'For rooms: What the exports of each agreement of the layer EXPORT have to do.';
COMMENT ON COLUMN omd_facts.export_work.agreement_code IS 'The agreement.';
COMMENT ON COLUMN omd_facts.export_work.module_code IS 'The Module as which they run.';
COMMENT ON COLUMN omd_facts.export_work.state IS
'RUNNING: one runs, and lives. PAUSED: the agreement is inactive, or not effective today. READY: '
'due_export returns one. WAITING: there is something, but. IDLE: there is nothing.';
COMMENT ON COLUMN omd_facts.export_work.reason IS
'READY: CHANGED, the facts have changed since the last one; RESUME, one was begun. WAITING: '
'DEPLOYMENT, the facts are not deployed; REPEAT, the pause since the last one is not over. PAUSED: '
'INACTIVE. NULL: there is none.';
COMMENT ON COLUMN omd_facts.export_work.waits_for IS 'What it waits for; NULL: for nothing.';
COMMENT ON COLUMN omd_facts.export_work.since IS
'Since when, by the row that made it so; NULL: no row did.';
COMMENT ON COLUMN omd_facts.export_work.not_before IS
'When the pause is over; NULL: there is none.';
COMMENT ON COLUMN omd_facts.export_work.module_instance_id IS
'The Module Instance that runs; NULL: none does.';
COMMENT ON COLUMN omd_facts.export_work.delivery_id IS
'The export that runs, or that is to be resumed; NULL: there is none.';
