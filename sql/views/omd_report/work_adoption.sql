-- An upgrade leaves everything as it was. This view says what somebody wrote before there was ready
-- work, and what would start twice, or need not be there, once work is switched on. It changes
-- nothing. Who starts work is found by what he asks: the views of OMD that say what is ready, and
-- views over them.

CREATE OR REPLACE VIEW omd_report.work_adoption AS
WITH RECURSIVE ready AS (
    SELECT c.oid AS relation
    FROM pg_catalog.pg_class AS c
    INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
    WHERE
        c.relname IN ('ready_list', 'ready_work', 'stage_readiness', 'delivery_queue')
        AND n.nspname LIKE 'omd\_%'
    UNION
    SELECT w.ev_class
    FROM ready AS r
    INNER JOIN pg_catalog.pg_depend AS d
        ON
            r.relation = d.refobjid
            AND d.refclassid = 'pg_catalog.pg_class'::regclass
            AND d.classid = 'pg_catalog.pg_rewrite'::regclass
    INNER JOIN pg_catalog.pg_rewrite AS w ON d.objid = w.oid
),

asking AS (
    SELECT
        'SCHEDULE' AS object_kind,
        s.schedule_code AS object_key,
        s.source,
        s.criteria ->> 'CODE' AS code,
        format('CALL omd_dispatch.remove_schedule(%L)', s.schedule_code) AS way_out
    FROM omd_report.dispatch_schedules AS s
    WHERE s.inactive_indicator = 'N'
    UNION ALL
    SELECT
        'SOURCE' AS object_kind,
        concat_ws(' ', s.family_code, s.task_type) AS object_key,
        s.source,
        NULL AS code,
        format(
            'CALL omd_dispatch.register_source(%L, %L, p_inactive_indicator => ''Y'')',
            s.family_code, s.task_type
        ) AS way_out
    FROM omd_report.dispatch_sources AS s
    WHERE s.inactive_indicator = 'N' AND s.family_code <> 'WORK'
),

-- A room begins these when they are ready.
module AS (
    SELECT
        m.module_code,
        m.module_kind_code,
        coalesce(t.topic, m.module_code) AS name
    FROM omd.module AS m
    LEFT JOIN omd_report.lineage_topics AS t ON m.module_code = t.module_code
    WHERE m.module_kind_code IN ('TOPIC', 'FACTS', 'STAGE', 'DELIVERY', 'EXPORT')
)

SELECT
    a.object_kind,
    a.object_key,
    NULL::text AS module_kind_code,
    NULL::text AS module_code,
    format('It makes tasks of %s, which shows ready work.', a.source) AS text,
    a.way_out
FROM asking AS a
INNER JOIN ready AS r ON omd.target_relation(a.source) = r.relation
UNION ALL
SELECT
    a.object_kind,
    a.object_key,
    m.module_kind_code,
    m.module_code,
    format('It starts %s, which starts by itself when it is ready.', m.module_code) AS text,
    a.way_out
FROM asking AS a
INNER JOIN module AS m ON a.code IN (m.module_code, m.name)
UNION ALL
SELECT
    'BATCH' AS object_kind,
    b.batch_code AS object_key,
    m.module_kind_code,
    m.module_code,
    format('It runs %s, which starts by itself when it is ready.', m.module_code) AS text,
    format('CALL omd.remove_module_from_batch(%L, %L)', b.batch_code, m.module_code) AS way_out
FROM omd_report.batch_list AS b
INNER JOIN omd.batch_module AS bm ON b.batch_id = bm.batch_id
INNER JOIN omd.module AS om ON bm.module_id = om.module_id
INNER JOIN module AS m ON om.module_code = m.module_code;

COMMENT ON VIEW omd_report.work_adoption IS
'What was written before there was ready work, and could be switched over: schedules and sources '
'that make tasks of what is ready, and schedules and Batches that start Modules which start by '
'themselves once omd_dispatch.set_work has switched that on. It only reports. A Batch that gives '
'Modules an order may stay: what is done already is passed over.';
COMMENT ON COLUMN omd_report.work_adoption.object_kind IS 'SCHEDULE, SOURCE or BATCH.';
COMMENT ON COLUMN omd_report.work_adoption.object_key IS
'The schedule, the family and type of the source, or the Batch.';
COMMENT ON COLUMN omd_report.work_adoption.module_kind_code IS
'The kind of that Module; NULL: it starts all that is ready.';
COMMENT ON COLUMN omd_report.work_adoption.module_code IS
'The Module that it starts; NULL: all that is ready.';
COMMENT ON COLUMN omd_report.work_adoption.text IS 'What it does, in words.';
COMMENT ON COLUMN omd_report.work_adoption.way_out IS
'What removes it, once work is switched on.';
