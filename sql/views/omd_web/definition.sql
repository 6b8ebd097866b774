-- What has a code: there is as much of it as somebody has written, however many runs there are.

CREATE OR REPLACE VIEW omd_web.definition AS
SELECT
    'MODULE' AS object_kind,
    m.module_code AS key,
    m.module_code AS name,
    concat_ws(
        ', ',
        m.module_kind_code,
        'writes ' || m.table_code,
        CASE m.inactive_indicator WHEN 'Y' THEN 'inactive' END
    ) AS detail,
    m.table_code AS also
FROM omd.module AS m
UNION ALL
SELECT
    'BATCH' AS object_kind,
    b.batch_code AS key,
    b.batch_code AS name,
    nullif(
        concat_ws(
            ', ', b.batch_description, CASE b.inactive_indicator WHEN 'Y' THEN 'inactive' END
        ),
        ''
    ) AS detail,
    NULL AS also
FROM omd.batch AS b
UNION ALL
SELECT
    'TOPIC' AS object_kind,
    t.topic AS key,
    t.topic AS name,
    t.engine AS detail,
    NULL AS also
FROM omd_lineage.topic AS t
UNION ALL
SELECT
    'TASK_TYPE' AS object_kind,
    y.family_code || '/' || y.task_type AS key,
    y.task_type AS name,
    'group ' || y.deliver_id AS detail,
    NULL AS also
FROM omd_dispatch.task_conf_type_desc AS y
UNION ALL
SELECT
    'SCHEDULE' AS object_kind,
    s.schedule_code AS key,
    s.schedule_code AS name,
    concat_ws(
        ', ',
        'tasks of ' || s.family_code || '/' || s.task_type,
        CASE s.inactive_indicator WHEN 'Y' THEN 'paused' END
    ) AS detail,
    NULL AS also
FROM omd_dispatch.task_schedule AS s
UNION ALL
SELECT
    'INTERFACE' AS object_kind,
    i.interface_code AS key,
    i.interface_code AS name,
    'model version ' || i.model_version AS detail,
    NULL AS also
FROM omd_delivery.interface AS i
UNION ALL
SELECT
    'AGREEMENT' AS object_kind,
    a.agreement_code AS key,
    a.agreement_code AS name,
    concat_ws(
        ', ',
        'of interface ' || i.interface_code,
        CASE a.inactive_indicator WHEN 'Y' THEN 'inactive' END
    ) AS detail,
    NULL AS also
FROM omd_delivery.agreement AS a
INNER JOIN omd_delivery.interface AS i ON a.interface_id = i.interface_id
UNION ALL
SELECT
    'ENTITY' AS object_kind,
    i.interface_code || '/' || e.entity_code AS key,
    e.entity_code AS name,
    'of interface ' || i.interface_code AS detail,
    NULL AS also
FROM omd_facts.entity AS e
INNER JOIN omd_delivery.interface AS i ON e.interface_id = i.interface_id
UNION ALL
SELECT
    'STAGE' AS object_kind,
    g.stage_code AS key,
    g.stage_code AS name,
    'version ' || g.version AS detail,
    NULL AS also
FROM omd_decision.stage AS g
UNION ALL
SELECT
    'RULESET' AS object_kind,
    r.ruleset_code AS key,
    r.ruleset_code AS name,
    r.kind AS detail,
    NULL AS also
FROM omd_decision.ruleset AS r
UNION ALL
SELECT
    'LAKE_TABLE' AS object_kind,
    l.table_code AS key,
    l.table_code AS name,
    'in the catalogue' AS detail,
    NULL AS also
FROM (
    SELECT quote_ident(c.table_namespace) || '.' || quote_ident(c.table_name) AS table_code
    FROM omd_lake.iceberg_tables AS c
    WHERE c.catalog_name = 'omd' AND c.iceberg_type IS DISTINCT FROM 'VIEW'
) AS l;

COMMENT ON VIEW omd_web.definition IS
'For rooms: What has a code, in all rooms: where omd_web.find looks for a text.';
COMMENT ON COLUMN omd_web.definition.object_kind IS
'MODULE, BATCH, TOPIC, TASK_TYPE, SCHEDULE, INTERFACE, AGREEMENT, ENTITY (of the facts), STAGE, '
'RULESET or LAKE_TABLE.';
COMMENT ON COLUMN omd_web.definition.key IS
'Its code; of a TASK_TYPE family/type, of an ENTITY interface/entity.';
COMMENT ON COLUMN omd_web.definition.name IS 'The last part of the key, which people type alone.';
COMMENT ON COLUMN omd_web.definition.detail IS 'What it is, in words; NULL: nothing is known.';
COMMENT ON COLUMN omd_web.definition.also IS
'What else it is known by: of a MODULE the table that it writes; NULL of all others.';
