-- What has an id, but for tasks, which lie in a table per family. Whoever asks for one id reads one
-- row of each table, by its primary key.

CREATE OR REPLACE VIEW omd_web.numbered_object AS
SELECT
    'MODULE_INSTANCE' AS object_kind,
    mi.module_instance_id AS id,
    format('Module Instance %s', mi.module_instance_id) AS title,
    format('%s, status %s', m.module_code, mi.execution_status_code) AS detail
FROM omd.module_instance AS mi
INNER JOIN omd.module AS m ON mi.module_id = m.module_id
UNION ALL
SELECT
    'BATCH_INSTANCE' AS object_kind,
    bi.batch_instance_id AS id,
    format('Batch Instance %s', bi.batch_instance_id) AS title,
    format('%s, status %s', b.batch_code, bi.execution_status_code) AS detail
FROM omd.batch_instance AS bi
INNER JOIN omd.batch AS b ON bi.batch_id = b.batch_id
UNION ALL
SELECT
    'SUSPENSION' AS object_kind,
    s.suspension_id AS id,
    format('Suspension %s', s.suspension_id) AS title,
    concat_ws(': ', s.family_code, s.reason) AS detail
FROM omd_dispatch.task_suspension AS s
UNION ALL
SELECT
    CASE d.layer_code WHEN 'EXPORT' THEN 'EXPORT' ELSE 'DELIVERY' END AS object_kind,
    d.delivery_id AS id,
    format(
        CASE d.layer_code WHEN 'EXPORT' THEN 'Export %s' ELSE 'Delivery %s' END, d.delivery_id
    ) AS title,
    format('%s, %s', a.agreement_code, d.delivery_status) AS detail
FROM omd_delivery.delivery AS d
INNER JOIN omd_delivery.agreement AS a ON d.agreement_id = a.agreement_id
UNION ALL
SELECT
    'ARRIVAL' AS object_kind,
    r.arrival_id AS id,
    format('Arrival %s', r.arrival_id) AS title,
    format('folder %s of %s, %s', r.folder, a.agreement_code, r.arrival_status) AS detail
FROM omd_delivery.arrival AS r
INNER JOIN omd_delivery.agreement AS a ON r.agreement_id = a.agreement_id
UNION ALL
SELECT
    'RECALL' AS object_kind,
    c.recall_id AS id,
    format('Recall %s', c.recall_id) AS title,
    format('%s: %s', c.recall_status, c.reason) AS detail
FROM omd_provenance.recall AS c;

COMMENT ON VIEW omd_web.numbered_object IS
'For rooms: What has an id, in all rooms, but tasks: where omd_web.find looks for a number.';
COMMENT ON COLUMN omd_web.numbered_object.object_kind IS
'MODULE_INSTANCE, BATCH_INSTANCE, SUSPENSION, DELIVERY, EXPORT, ARRIVAL or RECALL.';
COMMENT ON COLUMN omd_web.numbered_object.id IS 'The id: one of each kind may have it.';
COMMENT ON COLUMN omd_web.numbered_object.title IS 'What it is, in words.';
COMMENT ON COLUMN omd_web.numbered_object.detail IS 'Of what it is, and how it is.';
