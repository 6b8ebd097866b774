-- Each part begins with the instance, by its key or an index, so a query must name it. Runs of
-- others are looked for among the 200 nearest to it, since no index holds what a window overlaps.

CREATE OR REPLACE VIEW omd_report.trace_steps AS
-- What a load has read: a delivery; and what an entity of it has read: what was staged for it.
SELECT
    x.module_instance_id,
    'READ' AS step,
    'DELIVERY' AS object_kind,
    d.delivery_id::text AS object_key,
    d.status_datetime AS at,
    concat_ws(
        ', ',
        format('%s %s of %s', x.what, d.delivery_id, a.agreement_code),
        'tenant ' || t.tenant_code,
        'T ' || d.snapshot_datetime,
        'from folder ' || r.folder
    ) AS text
FROM (
    SELECT
        l.module_instance_id,
        l.delivery_id,
        'delivery' AS what
    FROM omd_facts.load_log AS l
    UNION ALL
    SELECT
        e.module_instance_id,
        e.delivery_id,
        'staging of delivery' AS what
    FROM omd_delivery.delivery_entity AS e
) AS x
INNER JOIN omd_delivery.delivery AS d ON x.delivery_id = d.delivery_id
INNER JOIN omd_delivery.agreement AS a ON d.agreement_id = a.agreement_id
INNER JOIN omd_delivery.tenant AS t ON a.tenant_id = t.tenant_id
LEFT JOIN omd_delivery.arrival AS r ON d.delivery_id = r.delivery_id
UNION ALL
-- What an export has read.
SELECT
    x.module_instance_id,
    'READ' AS step,
    'INTERFACE' AS object_kind,
    i.interface_code AS object_key,
    x.as_of AS at,
    format(
        'facts of interface %s as of %s, for %s', i.interface_code, x.as_of, x.target_uri
    ) AS text
FROM omd.module_instance AS mi
INNER JOIN omd.module AS m ON mi.module_id = m.module_id
INNER JOIN omd_facts.export AS x
    ON
        m.module_code = 'export.' || x.agreement_code
        AND mi.module_instance_id = x.module_instance_id
INNER JOIN omd_facts.interface AS i ON x.interface_id = i.interface_id
UNION ALL
-- The changes in a window of an interface: all in one row, and the newest by themselves.
SELECT
    sc.module_instance_id,
    'READ' AS step,
    'INTERFACE' AS object_kind,
    i.interface_code AS object_key,
    sc.end_value AS at,
    format(
        'changes of interface %s after %s up to %s', i.interface_code,
        coalesce(nullif(sc.start_id, 0)::text, 'the beginning'), sc.end_id
    ) AS text
FROM omd.source_control AS sc
INNER JOIN omd_facts.interface AS i ON sc.source_code = 'facts.' || i.interface_code
UNION ALL
SELECT
    sc.module_instance_id,
    'READ' AS step,
    'CHANGE' AS object_kind,
    c.change_id::text AS object_key,
    c.change_datetime AS at,
    concat_ws(
        ', ',
        format('change %s (%s)', c.change_id, c.change_kind),
        'by Module Instance ' || c.module_instance_id,
        format('delivery %s of %s', d.delivery_id, a.agreement_code),
        'tenant ' || t.tenant_code,
        'undone by change ' || c.undone_by_change_id
    ) AS text
FROM omd.source_control AS sc
INNER JOIN omd_facts.interface AS i ON sc.source_code = 'facts.' || i.interface_code
CROSS JOIN
    LATERAL (
        SELECT n.*
        FROM omd_facts.change AS n
        WHERE
            n.interface_id = i.interface_id
            AND n.change_id > coalesce(sc.start_id, 0)
            AND n.change_id <= sc.end_id
        ORDER BY n.change_id DESC
        LIMIT 20
    ) AS c
LEFT JOIN omd_delivery.delivery AS d ON c.delivery_id = d.delivery_id
LEFT JOIN omd_delivery.agreement AS a ON d.agreement_id = a.agreement_id
LEFT JOIN omd_delivery.tenant AS t ON a.tenant_id = t.tenant_id
UNION ALL
-- The runs whose rows a window holds. A topic has read those of the topics that it depends on, and
-- of the Modules whose runs are its source; a stage those of the latter.
SELECT
    sc.module_instance_id,
    'READ' AS step,
    'MODULE_INSTANCE' AS object_kind,
    w.module_instance_id::text AS object_key,
    w.end_datetime AS at,
    format('rows of Module Instance %s of %s', w.module_instance_id, m.module_code) AS text
FROM omd.source_control AS sc
CROSS JOIN
    LATERAL (
        SELECT
            t.module_id AS reader_id,
            s.module_id AS writer_id,
            FALSE AS is_by_end
        FROM omd_lineage.topic AS t
        INNER JOIN omd_lineage.dependency AS d ON t.topic_id = d.topic_id AND d.ordinal = 1
        INNER JOIN omd_lineage.topic AS s ON d.source_topic_id = s.topic_id
        WHERE d.source_kind_code IS DISTINCT FROM 'RUNS' AND t.module_id = sc.module_id
        UNION
        SELECT
            r.module_id AS reader_id,
            substr(r.source_code, length('runs.') + 1)::integer AS writer_id,
            TRUE AS is_by_end
        FROM omd.source_reader AS r
        INNER JOIN omd.source AS s ON r.source_code = s.source_code
        WHERE s.source_kind_code = 'RUNS' AND r.module_id = sc.module_id
    ) AS k
INNER JOIN omd.module AS m ON k.writer_id = m.module_id
CROSS JOIN
    LATERAL (
        SELECT
            o.module_instance_id,
            o.end_datetime,
            v.start_value,
            v.end_value
        FROM (
            SELECT *
            FROM omd.module_instance AS p
            WHERE
                p.module_id >= k.writer_id
                AND p.module_id <= k.writer_id
                AND p.module_instance_id < sc.module_instance_id
            ORDER BY p.module_id DESC, p.module_instance_id DESC
            LIMIT 200
        ) AS o
        LEFT JOIN omd.source_control AS v ON o.module_instance_id = v.module_instance_id
        WHERE
            o.execution_status_code = 'S'
            AND CASE
                WHEN k.is_by_end
                    THEN
                        o.end_datetime > coalesce(sc.start_value, '-infinity')
                        AND o.start_datetime <= sc.end_value
                ELSE
                    v.end_value > coalesce(sc.start_value, '-infinity')
                    AND coalesce(v.start_value, '-infinity') < sc.end_value
            END
    ) AS w
UNION ALL
-- Its task, or that of its Batch.
SELECT
    mi.module_instance_id,
    'TASK' AS step,
    'TASK' AS object_kind,
    k.task_id AS object_key,
    mi.start_datetime AS at,
    omd_dispatch.task_text(k.task_id::bigint) AS text
FROM omd.module_instance AS mi
LEFT JOIN omd.batch_instance AS bi ON mi.batch_instance_id = bi.batch_instance_id
CROSS JOIN
    LATERAL (
        SELECT
            coalesce(
                mi.execution_context ->> 'task_id', bi.execution_context ->> 'task_id'
            ) AS task_id
    ) AS k
WHERE k.task_id ~ '^[0-9]{1,18}$'
UNION ALL
-- What took it back.
SELECT
    mi.module_instance_id,
    'UNDONE' AS step,
    'MODULE_INSTANCE' AS object_kind,
    mi.rolled_back_by_module_instance_id::text AS object_key,
    u.start_datetime AS at,
    format(
        'rolled back by Module Instance %s', mi.rolled_back_by_module_instance_id
    ) AS text
FROM omd.module_instance AS mi
LEFT JOIN omd.module_instance AS u
    ON mi.rolled_back_by_module_instance_id = u.module_instance_id
WHERE mi.rolled_back_by_module_instance_id IS NOT NULL
UNION ALL
SELECT
    l.module_instance_id,
    'UNDONE' AS step,
    'MODULE_INSTANCE' AS object_kind,
    l.undone_by::text AS object_key,
    u.start_datetime AS at,
    format('its load was undone by Module Instance %s', l.undone_by) AS text
FROM omd_facts.load_log AS l
LEFT JOIN omd.module_instance AS u ON l.undone_by = u.module_instance_id
WHERE l.undone_by IS NOT NULL
UNION ALL
SELECT
    x.module_instance_id,
    'UNDONE' AS step,
    'DELIVERY' AS object_kind,
    d.delivery_id::text AS object_key,
    d.status_datetime AS at,
    format('delivery %s was reverted', d.delivery_id) AS text
FROM (
    SELECT
        l.module_instance_id,
        l.delivery_id
    FROM omd_facts.load_log AS l
    UNION ALL
    SELECT
        e.module_instance_id,
        e.delivery_id
    FROM omd_delivery.delivery_entity AS e
) AS x
INNER JOIN omd_delivery.delivery AS d ON x.delivery_id = d.delivery_id
WHERE d.delivery_status = 'REVERTED'
UNION ALL
-- Who has read what it made: the load of the delivery, ...
SELECT
    e.module_instance_id,
    'READ_BY' AS step,
    'MODULE_INSTANCE' AS object_kind,
    q.module_instance_id::text AS object_key,
    q.finished_datetime AS at,
    format('loaded into the facts by Module Instance %s', q.module_instance_id) AS text
FROM omd_delivery.delivery_entity AS e
INNER JOIN omd_delivery.delta_queue AS q ON e.delivery_id = q.delivery_id
WHERE q.module_instance_id IS NOT NULL
UNION ALL
-- ... the runs whose window holds the change that it made, ...
SELECT
    c.module_instance_id,
    'READ_BY' AS step,
    'MODULE_INSTANCE' AS object_kind,
    r.module_instance_id::text AS object_key,
    r.end_datetime AS at,
    format(
        'change %s was read by Module Instance %s of %s', c.change_id, r.module_instance_id,
        r.module_code
    ) AS text
FROM omd_facts.change AS c
INNER JOIN omd_facts.interface AS i ON c.interface_id = i.interface_id
CROSS JOIN
    LATERAL (
        SELECT
            s.module_instance_id,
            mi.end_datetime,
            m.module_code
        FROM (
            SELECT *
            FROM omd.source_control AS n
            WHERE n.source_code = 'facts.' || i.interface_code AND n.end_id >= c.change_id
            ORDER BY n.end_id
            LIMIT 200
        ) AS s
        INNER JOIN omd.module_instance AS mi ON s.module_instance_id = mi.module_instance_id
        INNER JOIN omd.module AS m ON s.module_id = m.module_id
        WHERE coalesce(s.start_id, 0) < c.change_id AND mi.execution_status_code IN ('E', 'S')
    ) AS r
UNION ALL
-- ... and those whose window holds its rows.
SELECT
    mi.module_instance_id,
    'READ_BY' AS step,
    'MODULE_INSTANCE' AS object_kind,
    r.module_instance_id::text AS object_key,
    r.end_datetime AS at,
    format(
        'rows were read by Module Instance %s of %s', r.module_instance_id, m.module_code
    ) AS text
FROM omd.module_instance AS mi
CROSS JOIN
    LATERAL (
        SELECT
            t.module_id AS reader_id,
            s.module_id AS writer_id,
            FALSE AS is_by_end
        FROM omd_lineage.topic AS t
        INNER JOIN omd_lineage.dependency AS d ON t.topic_id = d.topic_id AND d.ordinal = 1
        INNER JOIN omd_lineage.topic AS s ON d.source_topic_id = s.topic_id
        WHERE d.source_kind_code IS DISTINCT FROM 'RUNS' AND s.module_id = mi.module_id
        UNION
        SELECT
            e.module_id AS reader_id,
            substr(e.source_code, length('runs.') + 1)::integer AS writer_id,
            TRUE AS is_by_end
        FROM omd.source_reader AS e
        INNER JOIN omd.source AS s ON e.source_code = s.source_code
        WHERE s.source_kind_code = 'RUNS' AND 'runs.' || mi.module_id = e.source_code
    ) AS k
INNER JOIN omd.module AS m ON k.reader_id = m.module_id
LEFT JOIN omd.source_control AS v ON mi.module_instance_id = v.module_instance_id
CROSS JOIN
    LATERAL (
        SELECT
            o.module_instance_id,
            o.end_datetime
        FROM (
            SELECT *
            FROM omd.module_instance AS n
            WHERE
                n.module_id >= k.reader_id
                AND n.module_id <= k.reader_id
                AND n.module_instance_id > mi.module_instance_id
            ORDER BY n.module_id, n.module_instance_id
            LIMIT 200
        ) AS o
        INNER JOIN omd.source_control AS sc ON o.module_instance_id = sc.module_instance_id
        WHERE
            o.execution_status_code IN ('E', 'S')
            AND CASE
                WHEN k.is_by_end
                    THEN
                        mi.end_datetime > coalesce(sc.start_value, '-infinity')
                        AND mi.start_datetime <= sc.end_value
                ELSE
                    v.end_value > coalesce(sc.start_value, '-infinity')
                    AND coalesce(v.start_value, '-infinity') < sc.end_value
            END
    ) AS r
WHERE mi.execution_status_code = 'S';

COMMENT ON VIEW omd_report.trace_steps IS
'One step from a Module Instance in each direction, in words: what it read, the task that ran it, '
'what took it back, and who read what it made. Query it with WHERE module_instance_id = ….';
COMMENT ON COLUMN omd_report.trace_steps.module_instance_id IS 'The Module Instance.';
COMMENT ON COLUMN omd_report.trace_steps.step IS
'READ: it has read this. TASK: this ran it. UNDONE: this took it back. READ_BY: this has read what '
'it made. Of runs the 200 nearest are looked at, of changes the newest 20 are here.';
COMMENT ON COLUMN omd_report.trace_steps.object_kind IS
'DELIVERY, INTERFACE, CHANGE, MODULE_INSTANCE or TASK.';
COMMENT ON COLUMN omd_report.trace_steps.object_key IS 'Its id or code.';
COMMENT ON COLUMN omd_report.trace_steps.at IS 'When that was; NULL when that is not known.';
COMMENT ON COLUMN omd_report.trace_steps.text IS 'The same in words.';
