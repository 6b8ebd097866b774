-- A delivery that was refused is a problem until the agreement comes to another end: the sender
-- corrects it, or a later one is accepted. Each part is a look into an index per agreement, so what
-- was done long ago costs nothing.

CREATE OR REPLACE VIEW omd_delivery.problem_list AS
SELECT
    'DELIVERY_REFUSED' AS problem_code,
    'WARNING' AS severity,
    'delivery' AS room,
    'DELIVERY' AS object_kind,
    d.delivery_id::text AS object_key,
    concat_ws(
        ' ',
        format('delivery %s of %s', d.delivery_id, a.agreement_code),
        'from folder ' || r.folder
    ) AS subject,
    d.status_datetime AS since,
    format(
        'It was refused; omd show delivery:%s --receipt says why. Its data has to be corrected.',
        d.delivery_id
    ) AS text,
    concat_ws(
        ' ',
        'omd deliver',
        omd.shell_argument(a.agreement_code),
        CASE WHEN r.arrival_id IS NULL OR a.arrival IS NULL THEN 'FOLDER' ELSE '--arrived' END
    ) AS way_out
FROM omd_delivery.agreement AS a
CROSS JOIN
    LATERAL (
        SELECT
            n.delivery_id,
            n.delivery_status,
            n.status_datetime
        FROM omd_delivery.delivery AS n
        WHERE
            n.agreement_id = a.agreement_id
            AND NOT n.is_dry_run
            AND n.delivery_status NOT IN ('RECEIVED', 'LOADED', 'VALIDATED', 'CANCELLED')
        ORDER BY n.delivery_id DESC
        LIMIT 1
    ) AS d
LEFT JOIN omd_delivery.arrival AS r ON d.delivery_id = r.delivery_id
WHERE a.layer_code = 'LVL' AND d.delivery_status = 'REFUSED'
UNION ALL
-- No delivery could be created.
SELECT
    'DELIVERY_REFUSED' AS problem_code,
    'WARNING' AS severity,
    'delivery' AS room,
    'ARRIVAL' AS object_kind,
    r.arrival_id::text AS object_key,
    format('folder %s of %s', r.folder, a.agreement_code) AS subject,
    r.found_datetime AS since,
    concat_ws('; ', r.problem, 'it has to be corrected, or removed') AS text,
    format('omd deliver %s --arrived', omd.shell_argument(a.agreement_code)) AS way_out
FROM omd_delivery.agreement AS a
LEFT JOIN LATERAL (
    SELECT o.found_datetime
    FROM omd_delivery.arrival AS o
    WHERE o.agreement_id = a.agreement_id AND o.arrival_status = 'DONE'
    ORDER BY o.snapshot_datetime DESC, o.arrival_id DESC
    LIMIT 1
) AS d ON TRUE
CROSS JOIN
    LATERAL (
        SELECT
            o.arrival_id,
            o.folder,
            o.found_datetime,
            o.problem
        FROM omd_delivery.arrival AS o
        WHERE
            o.agreement_id = a.agreement_id
            AND o.arrival_status = 'REFUSED'
            AND o.delivery_id IS NULL
            AND o.found_datetime > coalesce(d.found_datetime, '-infinity')
        ORDER BY o.snapshot_datetime DESC, o.arrival_id DESC
        LIMIT 20
    ) AS r
WHERE a.arrival IS NOT NULL
UNION ALL
SELECT
    'ARRIVAL_' || r.arrival_status AS problem_code,
    'WARNING' AS severity,
    'delivery' AS room,
    'ARRIVAL' AS object_kind,
    r.arrival_id::text AS object_key,
    format('folder %s of %s', r.folder, a.agreement_code) AS subject,
    r.changed_datetime AS since,
    concat_ws(
        '; ',
        r.problem,
        CASE
            WHEN r.arrival_status = 'UNFIT' THEN 'it has to be removed, or to get another name'
        END
    ) AS text,
    CASE
        WHEN r.arrival_status = 'UNFIT'
            THEN format(
                'omd deliver %s --arrived --dry-run', omd.shell_argument(a.agreement_code)
            )
        WHEN n.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED')
            THEN format(
                'omd call omd_delivery.cancel_delivery --delivery-id %s'
                ' --reason ''its folder has changed''',
                n.delivery_id
            )
        WHEN n.delivery_status = 'ACCEPTED'
            THEN format(
                'omd call omd_delivery.revert_delivery --delivery-id %s'
                ' --reason ''its folder has changed''',
                n.delivery_id
            )
        ELSE
            coalesce(
                omd_delivery._way_back(n.delivery_id),
                format(
                    'omd call omd_delivery.forget_arrival --arrival-id %s'
                    ' --reason ''it has changed''',
                    r.arrival_id
                )
            )
    END AS way_out
FROM omd_delivery.agreement AS a
CROSS JOIN
    LATERAL (
        SELECT o.*
        FROM omd_delivery.arrival AS o
        WHERE o.agreement_id = a.agreement_id AND o.arrival_status IN ('UNFIT', 'CHANGED')
    ) AS r
LEFT JOIN omd_delivery.delivery AS n ON r.delivery_id = n.delivery_id
WHERE a.arrival IS NOT NULL
UNION ALL
SELECT
    'LOCATION_UNREADABLE' AS problem_code,
    'WARNING' AS severity,
    'delivery' AS room,
    'LOCATION' AS object_kind,
    a.agreement_code AS object_key,
    format('location %s of %s', a.arrival ->> 'location', a.agreement_code) AS subject,
    l.problem_datetime AS since,
    l.problem AS text,
    format('omd deliver %s --arrived --dry-run', omd.shell_argument(a.agreement_code)) AS way_out
FROM omd_delivery.agreement AS a
INNER JOIN omd_delivery.arrival_location AS l ON a.agreement_id = l.agreement_id
WHERE a.arrival IS NOT NULL AND a.inactive_indicator = 'N' AND l.problem IS NOT NULL;

COMMENT ON VIEW omd_delivery.problem_list IS
'For rooms: the deliveries, folders and locations that somebody should look at, as '
'omd_report.problems shows them.';
COMMENT ON COLUMN omd_delivery.problem_list.problem_code IS
'DELIVERY_REFUSED: the last end of an agreement is a delivery, or a folder, that was refused. '
'ARRIVAL_UNFIT: a folder can''t be a delivery. ARRIVAL_CHANGED: a folder has another content than '
'what was taken. LOCATION_UNREADABLE: the last look at a location failed.';
COMMENT ON COLUMN omd_delivery.problem_list.severity IS 'WARNING.';
COMMENT ON COLUMN omd_delivery.problem_list.room IS 'The room that says so.';
COMMENT ON COLUMN omd_delivery.problem_list.object_kind IS
'DELIVERY, ARRIVAL, or LOCATION of an agreement.';
COMMENT ON COLUMN omd_delivery.problem_list.object_key IS
'The id of the delivery or arrival, or the agreement.';
COMMENT ON COLUMN omd_delivery.problem_list.subject IS 'What it is about, in words.';
COMMENT ON COLUMN omd_delivery.problem_list.since IS
'Since when; NULL when that is not known.';
COMMENT ON COLUMN omd_delivery.problem_list.text IS 'What is wrong, without values of rows.';
COMMENT ON COLUMN omd_delivery.problem_list.way_out IS 'What mends it.';
